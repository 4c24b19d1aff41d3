"""The commands of `sm`, one per file.

sessions/       start, name, open, interrupt and end a session
messages/       what people and agents say to each other
overviews/      several sessions at a glance
schedules/      what happens later
completions.py  a shell's completion script
"""
