"""One real server for all tests of a worker, which share it as users do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from tests.acceptance.contract.person import Person
from tests.server import Client, ServerProcess

PATIENCE_SECONDS = 60


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    home = tmp_path_factory.mktemp("server")
    # No test may start agents installed on the machine.
    absent = {"NAVI_CLAUDE_CODE_COMMAND": "not-installed", "NAVI_CODEX_COMMAND": "not-installed"}
    with ServerProcess(home, settings={"NAVI_MODEL": "scripted", **absent}) as server:
        yield server


@pytest.fixture
async def client(server: ServerProcess) -> AsyncIterator[Client]:
    async with server.client() as client:
        yield client


@pytest.fixture
def person(server: ServerProcess) -> Person:
    return Person(server)


async def receive(socket: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return dict(json.loads(await socket.recv()))


async def receive_until(socket: ClientConnection, type_: str) -> list[dict[str, Any]]:
    frames = [await receive(socket)]
    while frames[-1]["type"] != type_:
        frames.append(await receive(socket))
    return frames


async def finished(client: Client, session_id: str, turns: int = 1) -> list[dict[str, Any]]:
    """The session's frames up to the end of that many turns."""
    frames: list[dict[str, Any]] = []
    async with client.watch(session_id, after=0) as socket:
        for _ in range(turns):
            frames += await receive_until(socket, "session_sync")
    return frames


async def agent_token(client: Client, session_id: str) -> str:
    """The token that the session's agent finds in its terminal."""
    async with client.watch(session_id) as socket:
        await client.say(session_id, "[[bash: printenv NAVI_TOKEN]]")
        frames = await receive_until(socket, "session_sync")
    [called] = [frame for frame in frames if frame["type"] == "tool_call"]
    return str(called["result"]).strip()
