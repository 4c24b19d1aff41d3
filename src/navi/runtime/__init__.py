"""The only owner of time, tasks and concurrency.

app.py           builds everything and starts and stops it in order
service.py       the background loop, written once
queue.py         stations 1 and 2: admission, and which session may begin a turn, and when
turns.py         station 3: one turn per session, driven to its end
scheduler.py     the clock: everything that comes due becomes an input
listener.py      what the signals of transactions mean here
recalls.py       what people and agents do with recalls; automations.py and reminders.py likewise
messages.py      what sessions and people say to sessions; waiting.py waits for what comes of it
deliveries.py    which answers of automations that run apart a person should see
system_jobs.py   Navi's own automations; job_import.py takes over those of an older system
adoption.py      sessions of people's own terminals
library.py       the memory, for agents that ask
slots.py         how many turns run at once, and whose
pump.py          how a turn's events get stored without slowing its agent
feed.py          stored events, sent to whoever watches
recovery.py      leases, requests to stop, turns whose process died, agents whose session ended
owner.py         who this process is, and whether another one still lives
sessions.py      what people and agents do with sessions
archive.py       the memory, for people who ask the server
index_follower.py  keeps the memory up to date
accounts.py      tokens and users
server_token.py  the server's own token, and a new one in its place
logins.py        browsers that are logged in, and the links that log them in
session_tokens.py  the tokens of sessions' agents
settings.py      what can be configured, and from where
places.py        where Navi keeps its files
system_clock.py  the real time
interpreter.py   Python's interpreter, set up for short waits
"""
