"""The live state, in SQLite or PostgreSQL. No other package has SQL for it.

An operation is a function whose first argument is a connection. It runs in one transaction, and
can be repeated after a lost connection without doing its work twice.

input_queue.py      station 1: admits inputs; lists, edits and removes undelivered ones
turns.py            begins, extends and finishes turns
sessions.py         creates, reads, changes and deletes sessions
questions.py        questions to a person: asks, answers and closes them
inbox.py            what is waiting for a person, and what they have snoozed
notifications.py    what people are notified of: stores it, and claims what is due
lanes.py            who owns which session: leases, fences, stop requests
events.py           numbers, stores and reads events
transcript.py       the messages of a session
snapshot.py         a session at one moment, for a client that starts watching
origins.py          tells the recall or automation behind an input what became of its turn
budgets.py          what may be used and what was used, and which inputs wait for a budget
usage_limits.py     what accounts have left, and which inputs wait for a limit
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
