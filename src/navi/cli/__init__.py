"""The commands. `output.py` is the only printer: stdout is data, stderr is talk.

navi/    the server and its setup
sm/      live sessions
recall/  the memory

command_group.py   a command line that imports each command only when it runs
confirmation.py    ask before removing something
raw_option.py      `--raw`
cells.py, table.py, formats.py, code.py  formatting of texts, tables, numbers and code
"""
