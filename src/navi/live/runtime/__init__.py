"""The running server: its services, turns and schedules.

app.py              builds everything; starts and stops it in order
settings.py         what can be configured, and from where
service.py          the base class of all background loops
turns/              stations 1 to 3: admits inputs, chooses the next and runs its turn
scheduler/          admits inputs for everything that comes due
notifications/      notifies people that an agent needs them
services/           what people and agents can do, one file per noun
broadcast.py        sends stored events to all watching clients
signal_listener.py  reacts to the signals of committed transactions
index_follower.py   station 6: keeps the memory up to date
server_files.py     where the server keeps its files
python_tuning.py    tunes the interpreter for short waits
"""
