"""HTTP and WebSocket: translates requests, and leaves decisions to `runtime`.

application.py        builds the app from its routes and middleware
server.py             runs the app in an HTTP server
access.py             identifies callers, and checks Host and Origin
login_cookie.py       the two halves of a browser's login
connection_limits.py  limits on connections that have not authenticated yet
request_bodies.py     the JSON bodies of requests
query_parameters.py   reads numbers, flags and a time zone from URLs
responses.py          builds responses from values and errors
documentation_page.py  renders Markdown as a web page
routes/               one file per resource
"""
