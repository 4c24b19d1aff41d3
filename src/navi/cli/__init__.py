"""The commands: `navi`, `recall` and `sm`. The only package that prints.

navi/                the server and its set-up
recall/              the memory; needs no server
sm/                  the session manager: live sessions, through the server
output.py            the only module that prints: data to stdout, messages to stderr
command_group.py     commands that are imported only when they are run
table.py             rows as a table that fits the terminal
cells.py             the width and shortening of a table's cells
formats.py           numbers, times and paths as people read them
code.py              colours code blocks
finding.py           the results of `navi doctor` and `recall doctor`
completions.py       completion scripts
confirmation.py      asks before something is removed
raw_option.py        `--raw`: print control characters unchanged
timezone_options.py  `--tz`, also called `--timezone`
"""
