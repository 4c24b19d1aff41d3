"""Codex.

vendor.py        what the rest of Navi sees of it
home.py          its folder
open_threads.py  which of its threads are open, and whether it is at work
records.py       the lines of its rollouts
history.py       its rollouts, read for the index
titles.py        the names that people gave to its sessions
stream.py        its output during a turn, as events
transcript.py    its rollout during a turn in a terminal, as events
ending.py        how a turn ended, by its rollout
command_line.py  its options, and the driver that runs it without a terminal
terminal.py      Codex in a terminal
hooks.py         its hooks
settings.py      what Navi writes into its settings
prices.py        what its models cost
"""
