"""A network between browser and server that can fail."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit

from tests.server import ServerProcess


class Proxy:
    """Forwards to the server from a fixed address; `cut` and `mend` break and restore it."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._is_cut = False
        self._pairs: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.address = ""

    @property
    def token(self) -> str:
        return self._server.token

    def cut(self) -> None:
        """All connections break, and new ones are not taken."""
        self._is_cut = True
        for writer in self._pairs:
            writer.transport.abort()
        self._pairs.clear()

    def mend(self) -> None:
        self._is_cut = False

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        # Looked up for each connection: a restarted server has another port.
        port = urlsplit(self._server.address).port
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.transport.abort()
            return
        self._pairs |= {writer, inner_writer}
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))
        self._pairs -= {writer, inner_writer}

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def __aenter__(self) -> Proxy:
        self._listening = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port = self._listening.sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listening.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    with suppress(OSError, RuntimeError):
        writer.close()
