"""Claude Code.

vendor.py         what the rest of Navi sees of it
home.py           its folder
open_sessions.py  which of its sessions are open in which process
records.py        the lines of its transcripts and of its output
history.py        its transcripts, read for the index
repeats.py        lines that repeat earlier ones
stream.py         its output during a turn, as events
transcript.py     its transcript during a turn in a terminal, as events
command_line.py   its options, and the driver that runs it without a terminal
terminal.py       Claude Code in a terminal
hooks.py          its hooks
environment.py    the variables that it needs
settings.py       what Navi writes into its settings
prices.py         what its models cost
"""
