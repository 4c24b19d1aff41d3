"""Small things that every other package uses. Imports no other package of Navi.

errors.py              every error a user can see: message, hint, exit code, HTTP status
ids.py                 new ids, and which ids of agents' sessions are safe to use
clock.py               the `Clock` passed to code that must not read the time itself
system_clock.py        the real time and this machine's time zone
timestamps.py          instants as text for other programs, and as numbers
time_expressions.py    "in 20 minutes" to an instant, and an instant back to words
time_ranges.py         "7d" or "yesterday" as the start of a time range
timezone.py            the time zone of a request
paths.py               where Navi's files are, and the server's address
file_modes.py          who may read what Navi writes
file_locks.py          locks that end with the process that holds them
process_start.py       when a process started
stored_text.py         text that both databases can store
shortened_text.py      long text cut to fit
control_characters.py  characters that would control a terminal
token.py               the prefixes of Navi's own tokens
secrets/               masks keys and passwords
"""
