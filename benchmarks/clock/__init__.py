"""How late due work fires with a million rows pending: Navi beside other schedulers.

__main__.py    the command: `python -m benchmarks.clock`
plan.py        how much of everything is measured
stage.py       a fresh database for each contestant, and the process it runs in
peers.py       the environment of the other schedulers, from peers.txt
contestant.py  the process: one scheduler goes through the course
course.py      the course: idle, many due at once, due one after the other
sleeper.py     how late the machine itself is, measured beside each round
contestants/   Navi and its peers, each as the course sees it
report.py      the table, the ratios and the bars
"""
