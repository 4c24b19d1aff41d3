"""What a connection may cost before it has sent a token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn import Config
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from navi.live.api import connection_limits
from navi.live.api.connection_limits import (
    HttpProtocol,
    SocketProtocol,
    State,
    UnauthenticatedClients,
    mark_authenticated,
)

PATIENCE_SECONDS = 60
LIMIT = 3
HALF = b"GET / HTTP/1.1\r\nHost: x\r\nX-Half: "
WHOLE = b"\r\n\r\n"


async def greet(request: Request) -> Response:
    if "x-token" in request.headers:
        mark_authenticated(request)
    return Response("hello")


async def echo(socket: WebSocket) -> None:
    """Send the token as the first frame."""
    await socket.accept()
    while True:
        text = await socket.receive_text()
        mark_authenticated(socket)
        await socket.send_text(str(len(text)))


Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Door:
    def __init__(self, port: int) -> None:
        self.port = port
        self._writers: list[asyncio.StreamWriter] = []

    async def knock(self, data: bytes = HALF) -> Stream:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        await writer.drain()
        self._writers.append(writer)
        return reader, writer

    def leave(self) -> None:
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def open_door() -> AsyncIterator[Door]:
    routes = [Route("/", greet), WebSocketRoute("/ws", echo)]
    config = Config(Starlette(routes=routes), http=HttpProtocol, ws=SocketProtocol, lifespan="off")
    state = State(UnauthenticatedClients(LIMIT))
    server = await asyncio.get_running_loop().create_server(
        lambda: HttpProtocol(config, state, {}), "127.0.0.1", 0
    )
    door = Door(server.sockets[0].getsockname()[1])
    try:
        yield door
    finally:
        door.leave()
        server.close()


async def answer(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(PATIENCE_SECONDS):
        head = await reader.readuntil(WHOLE)
        length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        return head + await reader.readexactly(int(length))


async def is_closed(reader: asyncio.StreamReader) -> bool:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await reader.read(1) == b""


async def test_the_newest_client_without_a_token_replaces_the_oldest() -> None:
    async with open_door() as door:
        clients = [await door.knock() for _ in range(LIMIT + 4)]

        for reader, _ in clients[:4]:
            assert await is_closed(reader)
        for reader, writer in clients[4:]:
            writer.write(WHOLE)
            assert (await answer(reader)).startswith(b"HTTP/1.1 200")


async def test_a_client_that_has_shown_a_token_keeps_its_connection() -> None:
    async with open_door() as door:
        reader, writer = await door.knock(b"GET / HTTP/1.1\r\nHost: x\r\nX-Token: yes" + WHOLE)
        await answer(reader)
        async with connect(f"ws://127.0.0.1:{door.port}/ws", proxy=None) as socket:
            await socket.send("token")
            await socket.recv()

            clients = [await door.knock() for _ in range(LIMIT + 1)]
            assert await is_closed(clients[0][0])

            writer.write(HALF + WHOLE)
            assert (await answer(reader)).startswith(b"HTTP/1.1 200")
            await socket.send("again")
            assert await socket.recv() == "5"


async def test_headers_that_never_end_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "HEADER_SECONDS", 0.05)
    async with open_door() as door:
        for data in (b"", HALF, b"\r\n"):
            reader, _ = await door.knock(data)
            assert await is_closed(reader)
        reader, writer = await door.knock(b"GET / HTTP/1.1\r\nHost: x" + WHOLE)
        await answer(reader)
        writer.write(HALF)
        assert await is_closed(reader)


async def test_headers_without_end_are_refused() -> None:
    async with open_door() as door:
        reader, writer = await door.knock()
        writer.write(b"x" * (connection_limits.HEADER_LIMIT_BYTES + 1))
        assert (await answer(reader)).startswith(b"HTTP/1.1 400")
        assert await is_closed(reader)


async def test_the_first_frame_is_small_and_later_ones_need_not_be() -> None:
    large = "x" * (connection_limits.FIRST_FRAME_LIMIT_BYTES + 1)
    async with open_door() as door:
        address = f"ws://127.0.0.1:{door.port}/ws"
        async with connect(address, proxy=None) as socket:
            await socket.send(large)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        async with connect(address, proxy=None) as socket:
            await socket.send("token")
            assert await socket.recv() == "5"
            await socket.send(large)
            assert await socket.recv() == str(len(large))


async def test_a_frame_that_is_not_utf8_closes_the_socket_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_door() as door:
        async with connect(f"ws://127.0.0.1:{door.port}/ws", proxy=None) as socket:
            await socket.send(b"\xff\xfe", text=True)
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1007
    assert "Traceback" not in caplog.text
