"""One file per resource.

session_routes.py        /sessions
input_routes.py          /sessions/{id}/input and /sessions/{id}/queue
recall_routes.py         /sessions/{id}/recall, /sessions/{id}/recalls and /recalls/preview
automation_routes.py     /sessions/{id}/automations, /automations and /automation-runs
reminder_routes.py       /sessions/{id}/remind, /scheduler/remind and /reminders
question_routes.py       /questions
inbox_routes.py          /inbox
agenda_routes.py         /agenda
limit_routes.py          /limits
budget_routes.py         /budgets, /budget, and the budgets of sessions and automations
notification_routes.py   /notifications
answer_link_routes.py    /a/{token}, the links in notifications
agent_routes.py          /agents and /folders
memory_routes.py         /search, /stats, /archive and /index
hook_routes.py           /hooks/{driver}
mcp_routes.py            /mcp
login_routes.py          /login and /logout
socket_routes.py         /ws
page_routes.py           the page and its files
documentation_routes.py  /docs
"""
