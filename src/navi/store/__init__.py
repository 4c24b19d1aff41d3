"""Live state, in SQLite or PostgreSQL. The only place with its SQL.

    tables.py      the tables, one definition for both databases
    connection.py  opening a database by its URL
    dialects/      what differs between SQLite and PostgreSQL
    store.py       `Store.transact`: run an operation in a transaction, off the event loop
    schema.py      bringing a database to the current version (migrations/)
    signals.py     what a transaction tells the processes that share the store
    rows.py        rows as values, where more than one file reads them

The operations. Each takes a connection first, is one transaction, and may be run again after a
lost connection without doing its work twice:
    sessions.py    create, read, change, delete
    queue.py       admit an input; list, edit and remove the undelivered ones
    due/           what comes due: when the next one is, and claiming what is
    recalls.py     schedule, cancel, skip; what their turns make of them;
                   recall_history.py forgets the old ones
    automations.py add, read, change, remove; automation_runs.py fires them, hidden.py keeps those
                   that run apart, deliveries.py what they answered
    origins.py     what the source of an input learns about it
    set_aside.py   rows that can't be handled; bad_inputs.py and bad_turns.py use it
    notices.py     what senders wanted to know about their messages
    reminders.py   who is reminded to report; scheduled_reminders.py for once; compactions.py
    reminder_list.py  all of both kinds that are to come
    steering.py    soft nudges for an agent at work
    turns.py       begin, extend and finish a turn; close one whose process died
    lanes.py       who owns which session: leases, fences, requests to stop
    agent_sessions.py  what agents themselves call their sessions
    transcript.py  messages
    history.py     sessions as the memory reads them
    snapshot.py    a session at one moment, for whoever begins to watch it
    events.py      number, store and read events
    users.py       who may log in; user_removal.py ends what a removed user has running
    logins.py      browsers that are logged in, and the codes that log them in
    session_tokens.py  with which sessions' agents call the server
    quotas.py      whether a user or a session may have one more of something
"""
