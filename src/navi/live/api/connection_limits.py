"""Limits on connections that have not authenticated yet.

uvicorn has no such limits: headers may arrive slowly and be of any size, and the first frame of a
WebSocket may be as large as any other.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Protocol

from starlette.requests import HTTPConnection
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

HEADER_SECONDS = 10.0
HEADER_LIMIT_BYTES = 64_000
FIRST_FRAME_LIMIT_BYTES = 4_000
"""A frame with a token is about 80 bytes long."""

BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

log = logging.getLogger("navi.api")
_CLIENT = "client"


class Client(Protocol):
    """A connection, as the app sees it."""

    def mark_authenticated(self) -> None:
        """Call this once the client has sent a valid token."""

    def close(self) -> None: ...


def mark_authenticated(connection: HTTPConnection) -> None:
    """Call this once the sender of this request or socket has sent a valid token."""
    client: Client | None = connection.scope.get("state", {}).get(_CLIENT)
    if client is not None:
        client.mark_authenticated()


class UnauthenticatedClients:
    """Connections that have not authenticated yet.

    At the limit, a new connection replaces the oldest. Clients send their token at once, so the
    oldest connection is the least likely to have one.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._clients: dict[Client, None] = {}
        self._has_warned = False

    def add(self, client: Client) -> None:
        self._clients[client] = None
        if len(self._clients) > self._limit:
            oldest = next(iter(self._clients))
            self.remove(oldest)
            oldest.close()
            self._warn()

    def remove(self, client: Client) -> None:
        self._clients.pop(client, None)

    def _warn(self) -> None:
        """Warn only once, or clients without a token could fill the log."""
        if not self._has_warned:
            log.warning("more than %d connections without a token; closing the oldest", self._limit)
        self._has_warned = True


class State(ServerState):
    """The state that all connections of a server share."""

    def __init__(self, unauthenticated: UnauthenticatedClients) -> None:
        super().__init__()
        self.unauthenticated = unauthenticated


class HttpProtocol(HttpToolsProtocol):
    """Limits the size of a request's headers, and how long they may take to arrive."""

    def __init__(
        self,
        config: Config,
        server_state: State,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _CLIENT: self}, _loop)
        self._unauthenticated = server_state.unauthenticated
        self._is_reading_headers = False
        self._header_bytes = 0
        self._header_timer: asyncio.TimerHandle | None = None

    def mark_authenticated(self) -> None:
        self._unauthenticated.remove(self)

    def close(self) -> None:
        self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._unauthenticated.add(self)
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self._is_reading_headers:
            self._header_bytes += len(data)
            if self._header_bytes > HEADER_LIMIT_BYTES:
                self.send_400_response("The request headers are too large.")
                return
        if self._is_reading_headers or self.cycle is None or self.cycle.response_complete:
            self._start_header_timer()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_reading_headers = True
        self._header_bytes = 0

    def on_headers_complete(self) -> None:
        self._is_reading_headers = False
        self._stop_header_timer()
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        self._stop_watching()
        super().handle_websocket_upgrade()

    def _start_header_timer(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _stop_watching(self) -> None:
        self._stop_header_timer()
        self._unauthenticated.remove(self)


class SocketProtocol(WebSocketsSansIOProtocol):
    """Limits the size of frames until the client has sent a valid token."""

    def __init__(
        self,
        config: Config,
        server_state: State,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _CLIENT: self}, _loop)
        self._unauthenticated = server_state.unauthenticated
        self.conn.max_message_size = FIRST_FRAME_LIMIT_BYTES

    def mark_authenticated(self) -> None:
        self._unauthenticated.remove(self)
        self.conn.max_message_size = self.config.ws_max_size

    def close(self) -> None:
        self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._unauthenticated.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._unauthenticated.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            # The handshake can't be read, for example because its URL is longer than 8 KB.
            # uvicorn would send no response and keep the connection open.
            self.transport.write(BAD_REQUEST)
            self.transport.close()

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            # uvicorn would log a traceback for invalid UTF-8.
            self.frames = []
            self.conn.send_close(1007)
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
