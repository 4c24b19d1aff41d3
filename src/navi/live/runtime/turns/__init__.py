"""From a queued input to the end of its turn.

admission.py         station 2: passes new inputs to the store, and begins turns when they may
turn_runner.py       station 3: one turn per session, driven to its end
turn_slots.py        how many turns run at once, and whose
event_writer.py      stores a turn's events without slowing its agent
recovery.py          leases, stop requests, and turns whose process died
process_identity.py  who this process is, and whether another one is alive
"""
