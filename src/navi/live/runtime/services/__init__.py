"""What people and agents can do, one file per noun.

session_service.py     sessions
message_service.py     messages between people and sessions; status reports
recall_service.py      recalls
automation_service.py  automations and their runs
reminder_service.py    reminders
terminal_service.py    sessions that people started in their own terminals
memory_service.py      the memory, for the API
memory_search.py       the memory, for agents
long_poll.py           waits for a session to become idle, or for an answer
accounts.py            users, and who a token belongs to
login_service.py       browser logins
server_token.py        the server's own token
agent_tokens.py        the tokens of sessions' agents
"""
