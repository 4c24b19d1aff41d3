"""One file per resource.

session_routes.py     /sessions
input_routes.py       /sessions/{id}/input and /sessions/{id}/queue
recall_routes.py      /sessions/{id}/recall and /recalls
automation_routes.py  /sessions/{id}/automations, /automations and /automation-runs
reminder_routes.py    /sessions/{id}/remind, /scheduler/remind and /reminders
memory_routes.py      /search, /stats, /archive and /index
hook_routes.py        /hooks/{driver}
mcp_routes.py         /mcp
login_routes.py       /login and /logout
socket_routes.py      /ws
page_routes.py        the page and its files
"""
