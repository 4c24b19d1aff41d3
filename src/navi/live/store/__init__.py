"""Live state in SQLite or PostgreSQL. The only package with its SQL.

Each operation takes a connection first, is one transaction, and can be repeated after a lost
connection without doing its work twice.

input_queue.py      station 1: admits inputs; lists, edits and removes undelivered ones
turns.py            begins, extends and concludes turns
sessions.py         creates, reads, changes and deletes sessions
lanes.py            who owns which session: leases, fences, stop requests
events.py           numbers, stores and reads events
transcript.py       the messages of a session
snapshot.py         a session at one moment, for a client that starts watching
origins.py          tells the recall or automation behind an input what became of its turn
notices.py          delivery notices that senders asked for
steering.py         soft nudges for an agent at work
session_history.py  sessions as the memory reads them
terminals.py        agents' own ids for sessions, and the terminals they run in
engine/             transactions, tables, migrations, SQL dialects
due/                what comes due: one contract, one file per kind
scheduling/         recalls, automations, reminders
access/             users, logins, tokens, quotas
damage/             rows that can't be handled, set aside
"""
