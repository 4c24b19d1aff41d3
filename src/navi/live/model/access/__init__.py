"""Who may see and do what.

user.py    a user, and what they may touch
caller.py  who is calling: a person, or the agent of a session
login.py   a logged-in browser
quota.py   how many of each thing a user or a session may have
"""
