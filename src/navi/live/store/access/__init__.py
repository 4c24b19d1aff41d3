"""Users and what lets them in.

users.py           users, and the digests of their tokens
user_removal.py    removes a user and ends everything of theirs that is running
logins.py          logged-in browsers and one-time codes, as digests
answer_links.py    links in notifications that answer a question, as digests
session_tokens.py  the tokens of agents, as digests
quotas.py          whether a user or session may have one more of something
"""
