"""The operations that people and agents can call, one file per noun.

session_service.py     sessions
message_service.py     messages between people and sessions; status reports
recall_service.py      recalls
automation_service.py  automations and their runs
reminder_service.py    reminders
question_service.py    questions to a person, and their answers
inbox_service.py       what is waiting for a person
agent_catalogue.py     the agents that new sessions can have
recent_folders.py      folders to suggest for new sessions
notification_service.py  notifications: lists them, and sends tests
agenda_service.py      what will happen next
budget_service.py      budgets: sets them, and shows what is left
usage_limit_service.py usage limits: lists them, and ignores them on request
terminal_service.py    sessions that people started in their own terminals
terminal_questions.py  questions of agents in people's own terminals
memory_service.py      the memory, for the API
memory_search.py       the memory, for agents
long_poll.py           waits until a session is idle, or an input has its answer
accounts.py            users and their tokens
login_service.py       browser logins
server_token.py        the server's own token
agent_tokens.py        the tokens of sessions' agents
"""
