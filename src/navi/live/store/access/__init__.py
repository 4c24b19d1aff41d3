"""Users, what gives them access, and their quotas.

users.py           users, and the digests of their tokens
user_removal.py    removes a user and ends everything that the user has running
logins.py          logged-in browsers and one-time codes, as digests
answer_links.py    links in notifications that answer a question, as digests
session_tokens.py  the tokens of agents, as digests
quotas.py          limits on how many rows a user or a session may have
"""
