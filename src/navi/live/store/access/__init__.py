"""Users and what lets them in.

users.py           users, and their token's digest
user_removal.py    removes a user and stops what they have running
logins.py          logged-in browsers and one-time codes, as digests
session_tokens.py  the tokens of sessions' agents, as digests
quotas.py          whether a user or session may have one more of something
"""
