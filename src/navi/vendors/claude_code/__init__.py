"""Claude Code.

vendor.py         its entry in the registry
home.py           its folder
open_sessions.py  its open sessions, and their processes
records.py        the format of its transcripts and its output
history.py        reads its transcripts for the index
repeats.py        recognises lines that repeat earlier ones
stream.py         turns its output into events
transcript.py     turns its transcript into events while it works in a terminal
command_line.py   its options, and the driver that runs it without a terminal
inquiries.py      its questions about a call, and the decisions that answer them
questions.py      questions and answers without a terminal
terminal.py       runs it in a terminal
hooks.py          its hooks, and its questions in a terminal
environment.py    the environment variables that it needs
settings.py       Navi's entries in its settings
prices.py         the prices of its models
"""
