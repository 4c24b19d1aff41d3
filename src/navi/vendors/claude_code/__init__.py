"""Claude Code.

vendor.py         its entry in the registry
home.py           its folder
open_sessions.py  which of its sessions are open, and in which processes
records.py        the format of its transcripts and its output
history.py        reads its transcripts for the index
repeats.py        recognises lines that repeat earlier ones
stream.py         turns its output into events
transcript.py     turns its transcript into events while it works in a terminal
command_line.py   its options, and the driver that runs it without a terminal
inquiries.py      what it asks about a call, and the decisions that it takes
questions.py      how it asks without a terminal, and takes answers
terminal.py       runs it in a terminal
hooks.py          its hooks, and how it asks in a terminal
environment.py    the environment variables that it needs
settings.py       what Navi writes into its settings
prices.py         what its models cost
"""
