"""The only owner of time, tasks and concurrency.

app.py              builds everything; starts and stops it in order
settings.py         what can be configured, and from where
service.py          the background loop, written once
turns/              stations 2 and 3: which input goes next, and its turn
scheduler/          everything that comes due becomes an input
services/           what people and agents can do, one file per noun
broadcast.py        stored events, sent to everyone who watches
signal_listener.py  reacts to what transactions announce
index_follower.py   station 6: keeps the memory up to date
server_files.py     where the server keeps its files
python_tuning.py    the interpreter, tuned for short waits
"""
