"""Small things for all other packages. This package imports no other package of Navi.

errors.py              every error a user can see: message, hint, exit code, HTTP status
ids.py                 new ids, and which ids of agents' sessions are safe to use
clock.py               the `Clock` passed to code that must not read the time itself
system_clock.py        the real time and this machine's time zone
timestamps.py          instants as text for other programs, as numbers, and as ages
time_expressions.py    "in 20 minutes" to an instant, and an instant back to words
time_ranges.py         "7d" or "yesterday" as the start or the end of a time range
timezone.py            the time zone of a request
python_command.py      the command that runs a module with this Python
paths.py               where Navi's files are, and the server's address
served_address.py      where this home's server listens
documentation.py       where the documentation is on this machine
server_version.py      whether the server has the same version
file_modes.py          who may read what Navi writes
file_locks.py          locks that end with the process that holds them
whole_file.py          replaces a file in one step
stored_text.py         text that both databases can store
shortened_text.py      long text cut to fit
control_characters.py  characters that would control a terminal
token.py               the prefixes of Navi's own tokens
secrets/               masks keys and passwords
platform/              what differs between Linux and macOS
"""
