"""Small things that every other package uses. Imports nothing of ours.

errors.py              every error a user can see: message, hint, exit code, HTTP status
ids.py                 ids for new things
clock.py               the `Clock` that code is given instead of reading the time
system_clock.py        the real time and this machine's time zone
timestamps.py          instants as text for other programs, and as numbers
time_expressions.py    "in 20 minutes" as an instant, and an instant as words
time_ranges.py         "7d" or "yesterday" as the start of a time range
timezone.py            the time zone in which a request's times are read and shown
paths.py               where Navi's files are, and the server's address
file_modes.py          who may read what Navi writes
file_locks.py          locks that end with the process that holds them
process_start.py       when a process started
stored_text.py         texts that both databases can store
control_characters.py  characters that would control a terminal
token.py               the prefixes of Navi's own tokens
secrets/               keys and passwords in texts, masked
"""
