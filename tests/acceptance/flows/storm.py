"""Servers that are killed again and again while clients keep them busy.

A `Storm` is the same for every kind of work: it kills and restarts the servers, watches all events
as one client that reconnects, and compares in the end what the clients were promised with what the
store holds, what the watcher received and what the API says. What the clients do is a `Workload`,
one file each in workloads/. The seed fixes what is sent and when; how far a server gets before a
kill deliberately varies.

Used by the short tests in test_kills.py and by the long `benchmarks.chaos`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar

import httpx2
from websockets.exceptions import WebSocketException

from tests.acceptance.flows import ledger
from tests.acceptance.flows.ledger import AddedAutomation, Ledger, ScheduledRecall, Sent
from tests.server import NAVI, ServerProcess
from tests.waiting import PATIENCE_SECONDS, eventually

LOOK_SECONDS = 0.05


async def at_rest(database_url: str) -> Ledger:
    """The store once nothing waits, runs or is due soon. Every event restarts the timeout."""
    seen, is_quiet = await asyncio.to_thread(ledger.progress, database_url)
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not is_quiet:
        assert time.monotonic() < give_up_at, "nothing happens though inputs wait or turns run"
        await asyncio.sleep(LOOK_SECONDS)
        position, is_quiet = await asyncio.to_thread(ledger.progress, database_url)
        if position > seen:
            seen, give_up_at = position, time.monotonic() + PATIENCE_SECONDS
    return await asyncio.to_thread(ledger.read, database_url)


class Workload:
    """What clients do during a storm. They note in the storm what the servers accepted."""

    settings: ClassVar[Mapping[str, str]] = {}
    """Of the servers that it needs."""
    command: ClassVar[Sequence[str]] = NAVI
    moments: ClassVar[Sequence[str]] = ("input_queued", "stream_start", "stream_delta")
    """Events after which a kill is most likely to do harm."""

    async def start(self, storm: Storm) -> Sequence[Coroutine[Any, Any, None]]:
        """Prepare, and return the work that continues until the storm is over."""
        raise NotImplementedError

    def on_kill(self, storm: Storm) -> None:
        """Kill what is to die together with a server, which is dead now."""

    async def finish(self, storm: Storm) -> None:
        """After the last kill, end whatever would run forever."""

    def violations(self) -> list[str]:
        """Violations outside the store."""
        return []

    def is_expected(self, violation: str) -> bool:
        """Whether this would be wrong elsewhere, but not in this work."""
        return False

    def figures(self, report: Report) -> dict[str, int]:
        """Figures for the result table."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Report:
    """What a storm did and what it left behind."""

    kills: int
    resent: int
    """Requests that were repeated because no answer came."""
    sent: list[Sent]
    reminder_ids: list[str]
    ledger: Ledger
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
    servers: Sequence[ServerProcess]
    workload: Workload
    seed: int
    longest_life_seconds: float = 2.0
    on_kill: Callable[[int], None] = lambda kills: None

    # What the servers accepted.
    sent: list[Sent] = field(default_factory=list)
    scheduled: list[ScheduledRecall] = field(default_factory=list)
    added: list[AddedAutomation] = field(default_factory=list)
    reminder_ids: list[str] = field(default_factory=list)

    kills: int = 0
    resent: int = 0
    frames: list[dict[str, Any]] = field(default_factory=list)
    random: Random = field(init=False)
    is_over: asyncio.Event = field(default_factory=asyncio.Event)
    _session_ids: list[str] = field(default_factory=list)
    _wrong_in_between: list[str] = field(default_factory=list)
    _http: httpx2.AsyncClient = field(init=False)
    _up: set[int] = field(default_factory=set)
    """The places of the servers that answer."""
    _awaited: str = ""
    """The type of event that the next kill waits for."""
    _awaited_left: int = 0
    _awaited_came: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def database_url(self) -> str:
        return self.servers[0].database_url

    async def run(self, kills: int) -> Report:
        self.random = Random(self.seed)
        self._up = set(range(len(self.servers)))
        async with (
            httpx2.AsyncClient(timeout=30, trust_env=False) as self._http,
            asyncio.TaskGroup() as group,
        ):
            work = [group.create_task(each) for each in await self.workload.start(self)]
            watching = group.create_task(self._watch())
            while self.kills < kills:
                await self._wait_for_the_moment()
                await self._kill_and_restart(kills)
            self.is_over.set()
            await asyncio.gather(*work)
            await self.workload.finish(self)
            store = await at_rest(self.database_url)
            await self._until_all_is_seen(store.last_position)
            watching.cancel()
            violations = [
                *self._wrong_in_between,
                *ledger.violations(
                    store,
                    self.sent,
                    scheduled=self.scheduled,
                    added=self.added,
                    reminder_ids=self.reminder_ids,
                ),
                *ledger.stream_violations(self._frames_until(store.last_position), store.events),
                *[
                    wrong
                    for each in self._session_ids
                    for wrong in await self._wrong_api(store, each)
                ],
                *self.workload.violations(),
            ]
        violations = [each for each in violations if not self.workload.is_expected(each)]
        return Report(
            self.kills, self.resent, self.sent, self.reminder_ids, store, self.frames, violations
        )

    # For workloads: requests to whichever server is up.

    async def session(self, **body: str) -> str:
        created = await self.call("POST", "/sessions", {"driver": "scripted", **body})
        self._session_ids.append(created["id"])
        return str(created["id"])

    async def send(self, message: Sent, **fields: Any) -> Any:
        """Send under the same id until it is confirmed."""
        self.sent.append(replace(message, is_confirmed=False))
        place = len(self.sent) - 1
        body = {"text": message.text, "input_id": message.input_id, **fields}
        answer = await self.call("POST", f"/sessions/{message.session_id}/input", body)
        self.sent[place] = message
        return answer

    async def talk(self, session_id: str, random: Random, pause: tuple[float, float]) -> None:
        """Numbered inputs until the storm is over."""
        number = 0
        while not self.is_over.is_set():
            await self.pause(random.uniform(*pause))
            number += 1
            text, answer = script(random, number)
            await self.send(Sent(f"{session_id}-{number}", session_id, text, answer))

    async def pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.is_over.wait(), seconds)

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """Repeat an idempotent request until some server answers."""
        while True:
            try:
                return await self.call_once(method, path, body)
            except httpx2.TransportError:
                self.resent += 1

    async def call_once(self, method: str, path: str, body: Any = None) -> Any:
        while not self._up:
            await asyncio.sleep(LOOK_SECONDS)
        server = self.servers[self.random.choice(sorted(self._up))]
        headers = {"Authorization": f"Bearer {server.token}"}
        url = f"{server.address}{path}"
        response = await self._http.request(method, url, json=body, headers=headers)
        # A second removal fails, which is fine.
        fits = response.is_success or (method, response.status_code) == ("DELETE", 404)
        assert fits, f"{method} {path}: {response.status_code}: {response.text}"
        return response.json()

    async def restart_all(self, between: Callable[[], None]) -> None:
        """Do something while no server runs."""
        for server in self.servers:
            server.kill()
        await asyncio.to_thread(between)
        for server in self.servers:
            await asyncio.to_thread(server.start)

    # The killer.

    async def _wait_for_the_moment(self) -> None:
        """Wait for a while, or until the watcher receives a certain event."""
        if self.random.random() < 0.4:
            await asyncio.sleep(self.random.uniform(0.0, self.longest_life_seconds))
            return
        self._awaited_came.clear()
        self._awaited = self.random.choice(self.workload.moments)
        self._awaited_left = self.random.randint(1, 10)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._awaited_came.wait(), 2 * self.longest_life_seconds)
        self._awaited = ""

    async def _kill_and_restart(self, kills: int) -> None:
        place = self.random.randrange(len(self.servers))
        server = self.servers[place]
        self._up.discard(place)
        self._kill(server)
        moment = await asyncio.to_thread(ledger.read, self.database_url)
        wrong = ledger.momentary_violations(moment)
        self._wrong_in_between += [f"after kill {self.kills}: {each}" for each in wrong]
        # Some are killed before they have started.
        while self.kills < kills and self.random.random() < 0.2:
            await asyncio.sleep(self.random.uniform(0.2, 1.2))
            self._kill(server)
        await asyncio.to_thread(server.wait_until_ready)
        self._up.add(place)

    def _kill(self, server: ServerProcess) -> None:
        server.kill()
        self.workload.on_kill(self)
        server.launch()
        self.kills += 1
        self.on_kill(self.kills)

    # The watcher: one client that sees everything, across all restarts.

    async def _watch(self) -> None:
        while True:
            while not self._up:
                await asyncio.sleep(LOOK_SECONDS)
            server = self.servers[self.random.choice(sorted(self._up))]
            seen = self.frames[-1]["position"] if self.frames else 0
            with suppress(WebSocketException, OSError, EOFError):
                async with server.client() as client, client.watch(after=seen) as socket:
                    async for text in socket:
                        self._see(json.loads(text))

    def _see(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        if frame["type"] == self._awaited:
            self._awaited_left -= 1
            if self._awaited_left <= 0:
                self._awaited_came.set()

    def _frames_until(self, last_position: int) -> list[dict[str, Any]]:
        return [frame for frame in self.frames if frame["position"] <= last_position]

    async def _until_all_is_seen(self, last_position: int) -> None:
        async def is_seen() -> bool:
            return bool(self.frames) and self.frames[-1]["position"] >= last_position

        await eventually(is_seen, what="the watcher has seen the last event")

    async def _wrong_api(self, store: Ledger, session_id: str) -> list[str]:
        """Where the API and the store disagree."""
        path = f"/sessions/{session_id}"
        session = await self.call("GET", path)
        queue = await self.call("GET", f"{path}/queue")
        messages = await self.call("GET", f"{path}/messages")
        stored = [
            (row.id, row.idx, row.content) for row in store.messages if row.session_id == session_id
        ]
        wrong = []
        if (session["state"], queue) != ("idle", []):
            wrong.append(f"session {session_id} is {session['state']} by the API, with {queue}")
        if [(each["id"], each["idx"], each["content"]) for each in messages] != stored:
            wrong.append(f"session {session_id}: the API's transcript is not the stored one")
        return wrong


def script(random: Random, number: int) -> tuple[str, str]:
    """A numbered input of a random kind, and the last text of its turn."""
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
