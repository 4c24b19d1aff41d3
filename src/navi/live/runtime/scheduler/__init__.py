"""Turns what comes due into inputs.

due_loop.py        one loop for every kind of due thing
system_jobs.py     Navi's own automations: heartbeat and dream
answer_posting.py  posts background answers that are worth a person's time
job_import.py      imports the jobs of an older system
"""
