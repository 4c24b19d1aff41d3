"""A server that is killed again and again while its sessions receive numbered inputs.

Used by the short flow tests and by the long `benchmarks.chaos`. The seed fixes what is sent and
when; how far the server gets until a kill differs each time, and so it should.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import httpx2
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.acceptance.flows import ledger
from tests.acceptance.flows.ledger import Ledger, Sent
from tests.server import ServerProcess

PATIENCE_SECONDS = 90.0
"""How long a condition may take to come true before a test gives up. Says nothing about speed."""
LOOK_SECONDS = 0.05
MOST_WAITING = 5
"""A sender that is so far ahead only repeats itself, so that the end of a storm is near its last
kill."""


async def eventually(
    is_so: Callable[[], Awaitable[Any]], *, what: str, patience: float = PATIENCE_SECONDS
) -> Any:
    """Wait for a condition, and return what made it true."""
    give_up_at = time.monotonic() + patience
    while not (found := await is_so()):
        assert time.monotonic() < give_up_at, f"waited in vain: {what}"
        await asyncio.sleep(LOOK_SECONDS)
    return found


async def at_rest(database_url: str) -> Ledger:
    """The store once nothing waits and nothing runs."""
    await until_at_rest(database_url, ledger.progress)
    return await asyncio.to_thread(ledger.read, database_url)


async def until_at_rest(database_url: str, progress: Callable[[str], tuple[int, bool]]) -> None:
    """Any event on the way renews the patience."""
    seen, is_quiet = await asyncio.to_thread(progress, database_url)
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not is_quiet:
        assert time.monotonic() < give_up_at, "nothing happens though inputs wait or turns run"
        await asyncio.sleep(LOOK_SECONDS)
        position, is_quiet = await asyncio.to_thread(progress, database_url)
        if position > seen:
            seen, give_up_at = position, time.monotonic() + PATIENCE_SECONDS


def script(random: Random, number: int) -> tuple[str, str]:
    """A numbered input of a random kind, and what its turn says last."""
    answer = f"answer {number}"
    pause = f"[[sleep: {random.uniform(0.0, 0.08):.3f}]]"
    text = random.choice(
        [
            f"[[say: {answer}]]",
            f"{pause} [[say: {answer}]]",
            f"[[bash: true]] [[say: {answer}]]",
            f"[[say: a first part]] {pause} [[bash: true]] {pause} [[say: {answer}]]",
            f"[[think: about {number}]] {pause} [[say: {answer}]]",
        ]
    )
    return f"{number}: {text}", answer


@dataclass(frozen=True, slots=True)
class Report:
    """What a storm has done and what it left behind."""

    kills: int
    resent: int
    ledger: Ledger
    sent: list[Sent]
    frames: list[dict[str, Any]]
    violations: list[str]

    @property
    def died_empty(self) -> int:
        return sum(turn.died_empty for turn in self.ledger.turns)

    @property
    def died_speaking(self) -> int:
        return sum(turn.has_lost_its_server and not turn.died_empty for turn in self.ledger.turns)


@dataclass(slots=True)
class Storm:
    server: ServerProcess
    seed: int
    session_count: int = 20
    pause_seconds: tuple[float, float] = (0.1, 1.5)
    """The shortest and the longest time between two inputs of one session."""
    longest_life_seconds: float = 1.5
    on_kill: Callable[[int], None] = lambda kills: None

    kills: int = 0
    resent: int = 0
    sent: list[Sent] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    _random: Random = field(init=False)
    _http: httpx2.AsyncClient = field(init=False)
    _is_up: asyncio.Event = field(default_factory=asyncio.Event)
    _is_over: asyncio.Event = field(default_factory=asyncio.Event)
    _awaited: tuple[str, int] | None = None
    _awaited_came: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, kills: int) -> Report:
        self._random = Random(self.seed)
        async with self._client(), asyncio.TaskGroup() as group:
            self._is_up.set()
            sessions = [await self._create_session() for _ in range(self.session_count)]
            watching = group.create_task(self._watch())
            senders = [
                group.create_task(self._send_inputs(session_id, Random(f"{self.seed} {place}")))
                for place, session_id in enumerate(sessions)
            ]
            while self.kills < kills:
                await self._wait_for_the_moment()
                await self._kill_and_restart(kills)
            self._is_over.set()
            await asyncio.gather(*senders)
            found = await at_rest(self.server.database_url)
            await self._until_all_is_seen(found.last_position)
            watching.cancel()
            wrong = [
                *ledger.violations(found, self.sent),
                *ledger.stream_violations(self.frames, found.events),
                *[complaint for each in sessions for complaint in await self._told(found, each)],
            ]
        return Report(self.kills, self.resent, found, self.sent, self.frames, wrong)

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[None]:
        headers = {"Authorization": f"Bearer {self.server.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as self._http:
            yield

    async def _create_session(self) -> str:
        body = {"driver": "scripted"}
        response = await self._http.post(f"{self.server.address}/sessions", json=body)
        assert response.status_code == 201, response.text
        return str(response.json()["id"])

    # The sender: an input it is not sure of is sent again, under the same id.

    async def _send_inputs(self, session_id: str, random: Random) -> None:
        number = 0
        while not self._is_over.is_set():
            number += 1
            text, answer = script(random, number)
            input_id = f"{session_id}-{number}"
            self.sent.append(Sent(input_id, session_id, text, answer, is_confirmed=False))
            place = len(self.sent) - 1
            position = await self._send(session_id, input_id, text)
            self.sent[place] = replace(self.sent[place], is_confirmed=True)
            await self._pause(random)
            while position >= MOST_WAITING and not self._is_over.is_set():
                position = await self._send(session_id, input_id, text)
                await self._pause(random)

    async def _pause(self, random: Random) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_over.wait(), random.uniform(*self.pause_seconds))

    async def _send(self, session_id: str, input_id: str, text: str) -> int:
        """Send until it is confirmed; returns how many inputs go first."""
        while True:
            await self._is_up.wait()
            url = f"{self.server.address}/sessions/{session_id}/input"
            try:
                response = await self._http.post(url, json={"text": text, "input_id": input_id})
            except httpx2.TransportError:
                self.resent += 1
                continue
            assert response.status_code == 202, f"{response.status_code}: {response.text}"
            return int(response.json()["position"])

    # The killer.

    async def _wait_for_the_moment(self) -> None:
        """Some time after the start, or just when the watcher is told of a certain event."""
        if self._random.random() < 0.4:
            await asyncio.sleep(self._random.uniform(0.0, self.longest_life_seconds))
            return
        types = ("input_queued", "stream_start", "stream_delta", "tool_started", "stream_end")
        self._awaited_came.clear()
        self._awaited = (self._random.choice(types), self._random.randint(1, 20))
        with suppress(TimeoutError):
            await asyncio.wait_for(self._awaited_came.wait(), 2 * self.longest_life_seconds)
        self._awaited = None

    async def _kill_and_restart(self, kills: int) -> None:
        self._is_up.clear()
        self._kill()
        # Some servers do not live to see the end of their own start.
        while self.kills < kills and self._random.random() < 0.2:
            await asyncio.sleep(self._random.uniform(0.2, 1.2))
            self._kill()
        await asyncio.to_thread(self.server.wait_until_ready)
        self._is_up.set()

    def _kill(self) -> None:
        self.server.kill()
        self.server.launch()
        self.kills += 1
        self.on_kill(self.kills)

    # The watcher: one client that sees everything, across all restarts.

    async def _watch(self) -> None:
        headers = {"Authorization": f"Bearer {self.server.token}"}
        while True:
            await self._is_up.wait()
            seen = self.frames[-1]["position"] if self.frames else 0
            url = f"{self.server.address.replace('http', 'ws', 1)}/ws?after={seen}"
            try:
                async with connect(
                    url, additional_headers=headers, max_size=None, proxy=None
                ) as socket:
                    async for text in socket:
                        self._see(json.loads(text))
            except (WebSocketException, OSError, EOFError):
                continue

    def _see(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        if self._awaited is not None and frame["type"] == self._awaited[0]:
            kind, left = self._awaited
            self._awaited = (kind, left - 1)
            if left <= 1:
                self._awaited_came.set()

    async def _until_all_is_seen(self, last_position: int) -> None:
        async def is_seen() -> bool:
            return bool(self.frames) and self.frames[-1]["position"] >= last_position

        await eventually(is_seen, what="the watcher has seen the last event")

    async def _told(self, found: Ledger, session_id: str) -> list[str]:
        """Where the API tells another story than the store."""
        path = f"{self.server.address}/sessions/{session_id}"
        session = (await self._http.get(path)).json()
        queue = (await self._http.get(f"{path}/queue")).json()
        messages = (await self._http.get(f"{path}/messages")).json()
        stored = [
            (row.id, row.idx, row.content) for row in found.messages if row.session_id == session_id
        ]
        wrong = []
        if (session["state"], queue) != ("idle", []):
            wrong.append(f"session {session_id} is told to be {session['state']} with {queue}")
        if [(each["id"], each["idx"], each["content"]) for each in messages] != stored:
            wrong.append(f"session {session_id}: the told transcript is not the stored one")
        return wrong
