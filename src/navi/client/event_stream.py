"""A WebSocket connection that receives events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navi.client.client_errors import NoServer, ServerRefused

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

    from navi.live.model.wire_format import Json


class Events:
    """Receives events as the server sends them."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    def next(self, seconds: float | None = None) -> Json | None:
        """Wait for the next event. Returns None if none comes within `seconds`."""
        import json

        from websockets.exceptions import ConnectionClosed

        try:
            event: Json = json.loads(self._socket.recv(timeout=seconds))
        except TimeoutError:
            return None
        except ConnectionClosed as error:
            raise NoServer(
                "the server has closed the connection", hint="start it with `navi serve`"
            ) from error
        if event["type"] == "error":
            raise ServerRefused(400, event)
        return event

    def close(self) -> None:
        self._socket.close()
