"""The typed HTTP client: Navi's calls, for `sm` and other programs on a person's machine.

calls.py     every call that `sm` makes
wire.py      calls as JSON, and what is said when they fail
events.py    what happens, as it happens
server.py    where the server is, and the token for it
exchange.py  one request and its answer
failures.py  what can go wrong in between
"""

from navi.client.calls import Client
from navi.client.client_errors import NoServer, ServerRefused
from navi.client.server_address import Server, find_server

__all__ = ["Client", "NoServer", "Server", "ServerRefused", "find_server"]
