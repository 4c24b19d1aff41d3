"""Commands that schedule turns and messages.

recall.py      wake a session later
automation.py  turns on a schedule
remind.py      reminders
agenda.py      what will happen next
"""
