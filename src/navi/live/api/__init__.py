"""HTTP and WebSocket: translates, never decides.

application.py        routes and middleware, put together
server.py             the HTTP server process
access.py             who is calling: token, browser login, Host and Origin
login_cookie.py       the two halves of a browser's login
connection_limits.py  what a connection may cost before it has shown a token
request_bodies.py     what requests may contain
responses.py          values and errors as responses
routes/               one file per resource
"""
