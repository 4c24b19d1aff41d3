"""Runs the app in an HTTP server."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager

import uvicorn

from navi import __version__
from navi.live.api.application import build
from navi.live.api.connection_limits import (
    HttpProtocol,
    SocketProtocol,
    State,
    UnauthenticatedClients,
)
from navi.live.runtime.app import Navi

FRAME_LIMIT_BYTES = 16_000_000
"""A larger frame closes the socket. A smaller one may still be refused, but with an answer."""
SHUTDOWN_SECONDS = 3


class Server(uvicorn.Server):
    """Serves until it gets a signal. A second signal cuts the clean shutdown short."""

    def __init__(self, navi: Navi) -> None:
        super().__init__(
            uvicorn.Config(
                build(navi),
                http=HttpProtocol,
                ws=SocketProtocol,
                ws_max_size=FRAME_LIMIT_BYTES,
                # Compression costs more time than it saves on local networks.
                ws_per_message_deflate=False,
                lifespan="off",
                log_config=None,
                access_log=False,
                headers=[("Navi-Version", __version__)],
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
            )
        )
        limit = navi.settings.server.max_anonymous_connections
        self.server_state = State(UnauthenticatedClients(limit))
        self.signals: list[signal.Signals] = []

    async def serve_on(self, listener: socket.socket) -> None:
        await self.serve(sockets=[listener])
        if signal.SIGINT in self.signals:
            raise KeyboardInterrupt

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # uvicorn's own version raises the signal again at the end, which would cut short the
        # caller's cleanup.
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._on_signal, number)
        yield

    def _on_signal(self, number: signal.Signals) -> None:
        self.force_exit = bool(self.signals)
        self.should_exit = True
        self.signals.append(number)
