"""From a queued input to the end of its turn.

admission.py         admits inputs and starts turns when they may start
turn_slots.py        how many turns run at once, and whose
turn_runner.py       one turn per session, driven to its end
event_writer.py      stores a turn's events without slowing its agent
recovery.py          leases, stop requests, and turns whose process died
process_identity.py  who this process is, and whether another one is alive
"""
