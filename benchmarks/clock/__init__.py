"""How late due work fires with a million rows pending: Navi compared with other schedulers.

__main__.py    the command: `python -m benchmarks.clock`
plan.py        the sizes and durations of a run
stage.py       a fresh database for each contestant, and the process it runs in
peers.py       the environment of the other schedulers, from peers.txt
contestant.py  the process: one scheduler goes through the course
course.py      the course: idle, many jobs due at once, jobs due one after the other
sleeper.py     how late the machine itself is, measured during each round
contestants/   Navi and its peers, behind one interface
report.py      the tables of figures and goals
"""
