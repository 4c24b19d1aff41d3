"""The commands. `output.py` is the only printer: stdout is data, stderr is talk.

navi/    the server and its set-up
sm/      live sessions
recall/  the memory
"""
