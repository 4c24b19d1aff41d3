"""Stores recalls, automations and reminders.

recalls.py             schedules, cancels and skips recalls, and records their turns
recall_history.py      keeps the newest finished recalls of each session
automations.py         adds, reads, changes and removes automations
automation_runs.py     the record of each firing
hidden_sessions.py     the sessions of automations that run in the background
background_answers.py  the answers of those automations
reminders.py           periodic reminders, which last until the agent is done
one_time_reminders.py  reminders that fire once
reminder_list.py       both kinds in one list
agenda.py              recalls, automations and reminders of all sessions in one list
compactions.py         which agents are compacting and so get no reminders
"""
