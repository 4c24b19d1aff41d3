"""The only owner of time, tasks and concurrency.

app.py           builds everything and starts and stops it in order
admit.py         station 1: an input becomes durable
queue.py         station 2: which session may begin a turn, and when
turns.py         station 3: one turn per session, driven to its end
clock.py         everything that is due becomes an input
recalls.py       what people and agents do with recalls
adoption.py      sessions of people's own terminals
library.py       the memory, for agents that ask
prompts/         what agents are told at scheduled turns
room.py          how many turns run at once
pump.py          how a turn's events get stored without slowing its agent
feed.py          stored events, told to whoever watches
recovery.py      leases, requests to stop, and turns whose process died
owner.py         who this process is, and whether another one still lives
sessions.py      what people and agents do with sessions
archive.py       the memory, for whoever asks the server
accounts.py      tokens and users
settings.py      what can be configured, and from where
places.py        where Navi keeps its files
system_clock.py  the real time
"""
