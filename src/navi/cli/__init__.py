"""The commands: `navi`, `recall` and `sm`. The only package that prints.

navi/                the server and its set-up
recall/              the memory; needs no server
sm/                  the session manager: live sessions, through the server
output.py            the only printer: data to stdout, talk to stderr
command_group.py     commands that are imported only when they are run
table.py             rows as a table that fits the terminal
cells.py             the width and shortening of a table's cells
formats.py           numbers, ages and sizes as people read them
code.py              code with colours
completions.py       completion scripts
confirmation.py      asking before something is lost
raw_option.py        `--raw`: texts as they are, control characters included
timezone_options.py  `--tz` and the zone that times are shown in
"""
