"""Commands for what happens later.

recall.py      wake a session later
automation.py  turns on a schedule
remind.py      reminders
agenda.py      what will happen next
"""
