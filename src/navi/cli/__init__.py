"""The commands. `output.py` is the only printer: stdout is data, stderr is talk.

navi/    the server and its set-up
sm/      live sessions
recall/  the memory

command_group.py   a command line whose commands are loaded when they are needed
confirmation.py    asking before something is removed
raw_option.py      `--raw`
cells.py, table.py, formats.py, code.py  how texts, tables, numbers and code are shown
"""
