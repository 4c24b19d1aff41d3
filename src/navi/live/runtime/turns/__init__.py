"""From a queued input to the end of its turn.

admission.py         stations 1 and 2: has the store admit inputs, and chooses whose turn it is
turn_runner.py       station 3: runs turns, at most one per session
turn_slots.py        how many turns run at once, and whose
turn_questions.py    lets turns ask a person, and wait for the answer
time_limit.py        how long a turn may take
event_writer.py      stores a turn's events without slowing its agent
recovery.py          renews leases, forwards stop requests, takes over or closes dead servers' turns
process_identity.py  names this process, and tells whether another one is alive
"""
