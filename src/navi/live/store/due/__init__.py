"""Things that come due. Each kind answers: when is the next one? And: claim what is due.

contract.py         what every kind offers to the scheduler
due_recalls.py      recalls
due_automations.py  automations
due_nudges.py       nudges for agents that have not reported
due_reminders.py    one-time reminders
"""
