"""HTTP and WebSocket: translates, never decides.

server.py        the server process around the app
connections.py   what a connection may cost before anybody has shown a token on it
app.py           routes and middleware, put together
access.py        who is asking: token, browser login, Host and Origin
bodies.py        what requests may say
answers.py       values and errors as responses
sessions.py      /sessions
inputs.py        /sessions/{id}/input and /queue
recalls.py       /sessions/{id}/recall and /recalls
automations.py   /automations, and those of a session
reminders.py     /reminders, and /sessions/{id}/remind
archive.py       /search, /stats and /archive
hooks.py         /hooks: what agents' hooks report
mcp.py           /mcp: the tools, for other agents
sockets.py       /ws
logins.py        /login and /logout: browsers
login_cookie.py  the two halves of a browser's login, as they travel
pages.py         the page and its files
"""
