"""The typed HTTP client, used by `sm`, the MCP bridge and other programs.

calls.py           every call the server offers
json_calls.py      sends calls as JSON and explains failures
exchange.py        one request and its response
event_stream.py    a WebSocket connection that receives events
server_address.py  finds the server and its token
client_errors.py   errors between client and server
mcp_bridge.py      MCP over standard input and output, forwarded to the server
"""

from navi.client.calls import Client
from navi.client.client_errors import NoServer, ServerRefused
from navi.client.server_address import Server, configured_address, find_server, lasting_address

__all__ = [
    "Client",
    "NoServer",
    "Server",
    "ServerRefused",
    "configured_address",
    "find_server",
    "lasting_address",
]
