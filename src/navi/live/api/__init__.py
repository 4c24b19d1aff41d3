"""HTTP and WebSocket: translates requests, and leaves decisions to `runtime`.

application.py        routes and middleware, put together
server.py             runs the app in an HTTP server
access.py             who is calling: tokens, browser logins, Host and Origin
login_cookie.py       the two halves of a browser's login
connection_limits.py  limits on connections that have not shown a token yet
request_bodies.py     what requests may contain in their body
query_parameters.py   numbers, flags and a time zone in URLs
responses.py          values and errors as responses
documentation_page.py  Markdown as a web page
routes/               one file per resource
"""
