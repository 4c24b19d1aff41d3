"""A client that keeps losing its connection still sees every event once, in order."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.storm import at_rest
from tests.server import Client, ServerProcess

pytestmark = pytest.mark.proof

DISCONNECTS = {"sqlite": 500, "postgresql": 150}
SESSIONS = 3


@dataclass(slots=True)
class ForgetfulClient:
    """Reads a few frames, hangs up, and reconnects after the last frame it saw."""

    client: Client
    session_id: str | None
    random: Random
    frames: list[dict[str, Any]] = field(default_factory=list)
    disconnects: int = 0

    @property
    def cursor(self) -> int:
        """What `after` counts: `seq` in one session, `position` over all of them."""
        name = "position" if self.session_id is None else "seq"
        return int(self.frames[-1][name]) if self.frames else 0

    async def watch(self, disconnects: int) -> None:
        while self.disconnects < disconnects:
            async with self.client.watch(self.session_id, after=self.cursor) as socket:
                for _ in range(self._patience()):
                    await self._see(socket)
                if self.random.random() < 0.5:
                    # Without a close frame: the server only notices a dead connection.
                    socket.transport.abort()
            self.disconnects += 1

    async def catch_up(self, last: int) -> None:
        async with self.client.watch(self.session_id, after=self.cursor) as socket:
            while self.cursor < last:
                await self._see(socket)

    def _patience(self) -> int:
        """Usually a few frames, sometimes enough to catch up with the present."""
        return self.random.randint(0, 60 if self.random.random() < 0.05 else 4)

    async def _see(self, socket: ClientConnection) -> None:
        self.frames.append(json.loads(await socket.recv()))


async def test_a_client_that_disconnects_at_random_points_has_seen_all_of_its_session(
    serve: Serve, database_url: str | None, request: pytest.FixtureRequest
) -> None:
    server = serve(database_url)
    async with server.client() as client:
        session_id = await client.session()
        watcher = ForgetfulClient(client, session_id, Random(7))
        await _talk_while_watched(server, client, [session_id], [watcher], _disconnects(request))
        stored = ledger.read(server.database_url).events_of(session_id)
        await watcher.catch_up(stored[-1].seq)

    assert ledger.stream_violations(watcher.frames, stored) == []
    assert watcher.disconnects == _disconnects(request)


async def test_clients_that_disconnect_at_random_points_have_seen_all_of_all_sessions(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url)
    async with server.client() as client:
        session_ids = [await client.session() for _ in range(SESSIONS)]
        watchers = [ForgetfulClient(client, None, Random(seed)) for seed in range(5)]
        await _talk_while_watched(server, client, session_ids, watchers, disconnects=40)
        stored = ledger.read(server.database_url).events
        for watcher in watchers:
            await watcher.catch_up(stored[-1].position)

    for watcher in watchers:
        assert ledger.stream_violations(watcher.frames, stored) == []


def _disconnects(request: pytest.FixtureRequest) -> int:
    return DISCONNECTS[request.node.callspec.params["database_url"]]


async def _talk_while_watched(
    server: ServerProcess,
    client: Client,
    session_ids: list[str],
    watchers: list[ForgetfulClient],
    disconnects: int,
) -> None:
    """Turns stream in all sessions until every watcher has hung up often enough."""
    is_over = asyncio.Event()
    sent: list[Sent] = []
    async with asyncio.TaskGroup() as group:
        for session_id in session_ids:
            group.create_task(_talk(is_over, client, session_id, sent))
        await asyncio.gather(*(watcher.watch(disconnects) for watcher in watchers))
        is_over.set()
    final = await at_rest(server.database_url)
    assert ledger.violations(final, sent) == []


async def _talk(is_over: asyncio.Event, client: Client, session_id: str, sent: list[Sent]) -> None:
    """One turn after another, each in many small deltas."""
    async with client.watch(session_id) as socket:
        while not is_over.is_set():
            words = [f"word-{len(sent)}-{number}" for number in range(20)]
            text = " ".join(f"[[say: {word}]] [[sleep: 0.002]]" for word in words)
            each = Sent(f"{session_id}-{len(sent)}", session_id, text, " ".join(words))
            sent.append(each)
            await client.say(session_id, text, input_id=each.input_id)
            while json.loads(await socket.recv())["type"] != "session_sync":
                pass
