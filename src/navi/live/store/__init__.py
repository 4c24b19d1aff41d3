"""The live state, in SQLite or PostgreSQL. No other package has SQL for it.

An operation is a function whose first argument is a connection. It runs in one transaction, and
can be repeated after a lost connection without doing its work twice.

input_queue.py      admits inputs; lists, edits and removes undelivered ones
turns.py            begins, extends and finishes turns
sessions.py         creates, reads, changes and deletes sessions
questions.py        questions to a person: asks, answers and closes them
inbox.py            what is waiting for a person, and what they have snoozed
notifications.py    stores notifications, and claims those that are due
lanes.py            which process owns which session: leases, fences, stop requests
events.py           numbers, stores and reads events
transcript.py       the messages of a session
snapshot.py         a session at one moment, for a client that starts watching
origins.py          updates the recall or automation behind an input as its turn begins and ends
budgets.py          budgets, how much of them is used, and the inputs that wait for one
usage_limits.py     the usage limits of accounts, and the inputs that wait for one
notices.py          delivery notices that senders asked for
steering.py         delivers soft nudges to an agent while it works
session_history.py  reads sessions for the memory
terminals.py        agents' own ids for sessions, and the terminals they run in
engine/             transactions, tables, migrations, SQL dialects
due/                rows that come due: one contract, one file per kind
scheduling/         recalls, automations, reminders
access/             users, logins, tokens, quotas
damage/             sets aside rows that can't be handled
"""
