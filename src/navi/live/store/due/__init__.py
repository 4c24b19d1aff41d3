"""Rows that come due. Each kind reports when its next row is due, and claims rows that are.

contract.py         the interface of every kind to the scheduler
due_recalls.py      recalls
due_automations.py  automations
due_nudges.py       nudges for agents that have not reported
due_reminders.py    one-off reminders
due_questions.py    questions whose deadline has passed
"""
