"""What comes due. Each kind says when its next row is due, and claims rows that are.

contract.py         what the scheduler needs from every kind
due_recalls.py      recalls
due_automations.py  automations
due_nudges.py       nudges for agents that have not reported
due_reminders.py    one-off reminders
due_questions.py    questions whose deadline has passed
"""
