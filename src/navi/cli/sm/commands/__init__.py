"""The commands of `sm`, one per file.

sessions/       start, name, open, interrupt and end a session
messages/       messages between people and agents, and questions
overviews/      several sessions at a glance
schedules/      recalls, automations, reminders and the agenda
completions.py  a shell's completion script
"""
