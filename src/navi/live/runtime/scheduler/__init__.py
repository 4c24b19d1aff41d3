"""Admits inputs for everything that comes due.

due_loop.py        one loop for everything that comes due
system_jobs.py     Navi's own automations: heartbeat and dream
answer_posting.py  posts background automations' answers if they are worth reading
job_import.py      imports the `jobs.json` of an older system
"""
