"""Small modules that all other packages use. Imports no other package of Navi.

errors.py              every error a user can see: message, hint, exit code, HTTP status
ids.py                 makes ids, and checks the ids of agents' sessions
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
server_version.py      compares the server's version with this program's
file_modes.py          keeps other users out of Navi's files
file_locks.py          locks that end with the process that holds them
whole_file.py          replaces a file in one step
stored_text.py         text that both databases can store
shortened_text.py      long text cut to fit
control_characters.py  characters that would control a terminal
token.py               the prefixes of Navi's own tokens
secrets/               masks keys and passwords
platform/              the differences between Linux and macOS
"""
