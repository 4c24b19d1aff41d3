"""The running server: its services, turns and schedules.

app.py              builds everything; starts and stops it in order
settings.py         what can be configured, and from where
service.py          the background loop, written once
turns/              stations 1 to 3: has inputs admitted, chooses the next and runs its turn
scheduler/          turns what comes due into inputs
notifications/      tells people that an agent needs them
services/           what people and agents can do, one file per noun
broadcast.py        sends stored events to everyone who watches
signal_listener.py  reacts to the signals of committed transactions
index_follower.py   station 6: keeps the memory up to date
server_files.py     where the server keeps its files
python_tuning.py    tunes the interpreter for short waits
"""
