"""Codex, which calls its sessions threads and its transcripts rollouts.

vendor.py        its entry in the registry
home.py          its folder
open_threads.py  its open threads, and whether it is busy with one
records.py       the format of its rollouts
history.py       reads its rollouts for the index
titles.py        the names that people gave to its sessions
stream.py        turns its output into events
transcript.py    turns a rollout into events while Codex works in a terminal
ending.py        reads from a rollout how a turn ended
command_line.py  its options, and the driver that runs it without a terminal
app_server/      runs turns that may ask a person
terminal.py      runs it in a terminal
hooks.py         its hooks
settings.py      Navi's entries in its settings
prices.py        the prices of its models
"""
