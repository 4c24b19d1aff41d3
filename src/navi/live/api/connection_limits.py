"""Limits on connections that have not shown a token yet.

uvicorn has none of its own: headers may arrive slowly and be of any size, and the first frame of a
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
"""A frame with a token has about 80 bytes."""

BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

log = logging.getLogger("navi.api")
_VISITOR = "visitor"


class Visitor(Protocol):
    """A connection, as the app sees it."""

    def welcome(self) -> None:
        """It has shown a valid token."""

    def dismiss(self) -> None:
        """Close it."""


def welcome(connection: HTTPConnection) -> None:
    """The sender of this request or socket has shown a valid token."""
    visitor: Visitor | None = connection.scope.get("state", {}).get(_VISITOR)
    if visitor is not None:
        visitor.welcome()


class Strangers:
    """Connections that have not shown a token yet.

    The oldest makes way for the newest: clients with a token show it at once, so those that have
    waited longest are the least likely to have one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._visitors: dict[Visitor, None] = {}
        self._has_warned = False

    def add(self, visitor: Visitor) -> None:
        self._visitors[visitor] = None
        if len(self._visitors) > self._most:
            oldest = next(iter(self._visitors))
            self.forget(oldest)
            oldest.dismiss()
            self._warn()

    def forget(self, visitor: Visitor) -> None:
        self._visitors.pop(visitor, None)

    def _warn(self) -> None:
        """Only once, or strangers could fill the log."""
        if not self._has_warned:
            log.warning("more than %d connections without a token; closing the oldest", self._most)
        self._has_warned = True


class State(ServerState):
    """Shared by all connections of a server."""

    def __init__(self, strangers: Strangers) -> None:
        super().__init__()
        self.strangers = strangers


class HttpProtocol(HttpToolsProtocol):
    def __init__(
        self,
        config: Config,
        server_state: State,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _VISITOR: self}, _loop)
        self._strangers = server_state.strangers
        self._is_in_header = False
        self._header_bytes = 0
        self._header_timer: asyncio.TimerHandle | None = None

    def welcome(self) -> None:
        self._strangers.forget(self)

    def dismiss(self) -> None:
        self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._strangers.add(self)
        self._expect_header()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self._is_in_header:
            self._header_bytes += len(data)
            if self._header_bytes > HEADER_LIMIT_BYTES:
                self.send_400_response("The header of this request is too large.")
                return
        if self._is_in_header or self.cycle is None or self.cycle.response_complete:
            self._expect_header()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_header = True
        self._header_bytes = 0

    def on_headers_complete(self) -> None:
        self._is_in_header = False
        self._stop_waiting()
        super().on_headers_complete()

    def handle_websocket_upgrade(self) -> None:
        self._leave()
        super().handle_websocket_upgrade()

    def _expect_header(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _leave(self) -> None:
        self._stop_waiting()
        self._strangers.forget(self)


class SocketProtocol(WebSocketsSansIOProtocol):
    def __init__(
        self,
        config: Config,
        server_state: State,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, _VISITOR: self}, _loop)
        self._strangers = server_state.strangers
        self.conn.max_message_size = FIRST_FRAME_LIMIT_BYTES

    def welcome(self) -> None:
        self._strangers.forget(self)
        self.conn.max_message_size = self.config.ws_max_size

    def dismiss(self) -> None:
        self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._strangers.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._strangers.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            # For example, a URL of more than 8 KB. uvicorn would answer nothing and keep it open.
            self.transport.write(BAD_REQUEST)
            self.transport.close()

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            # uvicorn would log a traceback.
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
