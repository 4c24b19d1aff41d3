"""From a queued input to the end of its turn.

admission.py         stations 1 and 2: admits inputs, and chooses which sessions get a slot
turn_runner.py       stations 3 and 4: begins turns and runs their drivers, one per session
turn_slots.py        limits how many turns run at once, in all and for each user
turn_questions.py    lets turns ask a person, and wait for the answer
time_limit.py        how long a turn may take
event_writer.py      stores a turn's events without slowing its agent
recovery.py          renews leases, forwards stop requests, takes over or closes dead servers' turns
process_identity.py  names this process, and checks whether another one is alive
"""
