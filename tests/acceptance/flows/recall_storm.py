"""Servers that are killed again and again while recalls come due all the time.

Some sessions schedule single recalls, some let one beat every second, and some play chains: the
turn of a recall schedules the next one. People talk in between. As in `storm.py`, the seed fixes
what is done; how far the servers get until a kill differs each time, and so it should.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import httpx2
from websockets.exceptions import WebSocketException

from tests.acceptance.flows import recall_ledger
from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.recall_ledger import Asked, Books
from tests.acceptance.flows.storm import LOOK_SECONDS, script, until_at_rest
from tests.server import ServerProcess

SETTINGS = {"NAVI_RECALLS_KEEP_FINISHED": "1000000"}
"""What is confirmed can only be checked as long as nothing is forgotten."""
KINDS = ("once", "recurring", "chained")
LINKS = 3
MOMENTS = ("input_queued", "recall_update", "stream_start", "stream_delta", "tool_call")
"""Events that, once told, may be the last thing that a server does."""


@dataclass(frozen=True, slots=True)
class Report:
    kills: int
    resent: int
    books: Books
    asked: list[Asked]
    sent: list[Sent]
    violations: list[str]

    @property
    def recalls_by_status(self) -> dict[str, int]:
        statuses = [recall.status for recall in self.books.recalls]
        return {status: statuses.count(status) for status in ("fired", "cancelled", "pending")}

    @property
    def beats_missed(self) -> int:
        return sum(recall.missed_count for recall in self.books.recalls)

    @property
    def turns_run_again(self) -> int:
        return sum(turn.died_empty for turn in self.books.ledger.turns)

    @property
    def turns_died_speaking(self) -> int:
        turns = self.books.ledger.turns
        return sum(turn.has_lost_its_server and not turn.died_empty for turn in turns)


@dataclass(slots=True)
class RecallStorm:
    servers: Sequence[ServerProcess]
    seed: int
    sessions_per_kind: int = 4
    longest_life_seconds: float = 2.0
    on_kill: Callable[[int], None] = lambda kills: None

    kills: int = 0
    resent: int = 0
    asked: list[Asked] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    wrong_in_between: list[str] = field(default_factory=list)
    """What did not add up just after a kill."""
    _random: Random = field(init=False)
    _http: httpx2.AsyncClient = field(init=False)
    _up: set[int] = field(default_factory=set)
    """The places of the servers that can be asked."""
    _is_over: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, kills: int) -> Report:
        self._random = Random(self.seed)
        self._up = set(range(len(self.servers)))
        async with httpx2.AsyncClient(timeout=30, trust_env=False) as self._http:
            async with asyncio.TaskGroup() as group:
                for kind in KINDS * self.sessions_per_kind:
                    created = await self._call("POST", "/sessions", {"driver": "scripted"})
                    random = Random(f"{self.seed} {len(self.asked)} {created['id']}")
                    group.create_task(self._schedule(kind, created["id"], random))
                    group.create_task(self._talk(created["id"], random))
                while self.kills < kills:
                    place = self._random.randrange(len(self.servers))
                    await self._wait_for_the_moment(self.servers[place])
                    await self._kill_and_restart(place, kills)
                self._is_over.set()
        url = self.servers[0].database_url
        await until_at_rest(url, recall_ledger.progress)
        books = await asyncio.to_thread(recall_ledger.read, url)
        wrong = [
            *self.wrong_in_between,
            *recall_ledger.violations(books, self.sent, self.asked),
        ]
        return Report(self.kills, self.resent, books, self.asked, self.sent, wrong)

    # Those who schedule, and those who talk.

    async def _schedule(self, kind: str, session_id: str, random: Random) -> None:
        number = 0
        while not self._is_over.is_set():
            number += 1
            if kind == "recurring":
                await self._let_beat(session_id, number, random)
                continue
            texts = _chain(number, LINKS if kind == "chained" else 1, random)
            call_type = random.choice(("once", "once", "immediate"))
            fields = {"when": "1s"} if call_type == "once" else {}
            await self._ask(session_id, texts, {"call_type": call_type, **fields})
            await self._until_idle(session_id)

    async def _let_beat(self, session_id: str, number: int, random: Random) -> None:
        """Every second for a while, then cancelled: maybe while it waits, maybe while it runs."""
        text, _ = script(random, number)
        beat = {"call_type": "recurring", "when": "1s", "interval_seconds": 1}
        await self._ask(session_id, [text], beat)
        await self._pause(random.uniform(2.0, 12.0))
        await self._call("DELETE", f"/sessions/{session_id}/recall")
        await self._until_idle(session_id)

    async def _ask(self, session_id: str, texts: Sequence[str], body: dict[str, Any]) -> None:
        """Schedule the first; the others are in its words. Only what is unknown is sent again."""
        path = f"/sessions/{session_id}/recall"
        body = {**body, "additional_context_message": texts[0]}
        for text, following in zip(texts, [*texts[1:], None], strict=True):
            self.asked.append(Asked(session_id, text, following, is_confirmed=False))
        place = len(self.asked) - len(texts)
        while True:
            try:
                await self._try("POST", path, body)
                break
            except httpx2.TransportError:
                self.resent += 1
                known = await self._call("GET", f"/sessions/{session_id}/recalls")
                if texts[0] in [each["additional_context_message"] for each in known]:
                    break
        self.asked[place] = replace(self.asked[place], is_confirmed=True)

    async def _until_idle(self, session_id: str) -> None:
        """Also at the end: what was scheduled has to come."""
        while True:
            recalls = await self._call("GET", f"/sessions/{session_id}/recalls")
            if not any(each["status"] in ("pending", "running") for each in recalls):
                return
            await asyncio.sleep(4 * LOOK_SECONDS)

    async def _talk(self, session_id: str, random: Random) -> None:
        number = 0
        while not self._is_over.is_set():
            await self._pause(random.uniform(0.5, 5.0))
            number += 1
            text, answer = script(random, number)
            input_id = f"{session_id}-{number}"
            self.sent.append(Sent(input_id, session_id, text, answer, is_confirmed=False))
            place = len(self.sent) - 1
            body = {"text": text, "input_id": input_id}
            await self._call("POST", f"/sessions/{session_id}/input", body)
            self.sent[place] = replace(self.sent[place], is_confirmed=True)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._is_over.wait(), seconds)

    async def _call(self, method: str, path: str, body: Any = None) -> Any:
        """For what may be asked twice: of another server, until one answers."""
        while True:
            try:
                return await self._try(method, path, body)
            except httpx2.TransportError:
                self.resent += 1

    async def _try(self, method: str, path: str, body: Any) -> Any:
        while not self._up:
            await asyncio.sleep(LOOK_SECONDS)
        server = self.servers[self._random.choice(sorted(self._up))]
        headers = {"Authorization": f"Bearer {server.token}"}
        url = f"{server.address}{path}"
        response = await self._http.request(method, url, json=body, headers=headers)
        # Cancelling a second time finds nothing: that is as good.
        fits = response.is_success or (method, response.status_code) == ("DELETE", 404)
        assert fits, f"{method} {path}: {response.status_code}: {response.text}"
        return response.json()

    # The killer.

    async def _wait_for_the_moment(self, victim: ServerProcess) -> None:
        """Some time, or just when the victim has told of a certain event."""
        if self._random.random() < 0.4:
            await asyncio.sleep(self._random.uniform(0.0, self.longest_life_seconds))
            return
        type_, left = self._random.choice(MOMENTS), self._random.randint(1, 8)
        with suppress(TimeoutError, WebSocketException, OSError):
            async with (
                asyncio.timeout(self.longest_life_seconds),
                victim.client() as client,
                client.watch() as socket,
            ):
                while left:
                    left -= json.loads(await socket.recv())["type"] == type_

    async def _kill_and_restart(self, place: int, kills: int) -> None:
        server = self.servers[place]
        self._up.discard(place)
        self._kill(server)
        wrong = await asyncio.to_thread(self._look, server.database_url)
        self.wrong_in_between += [f"after kill {self.kills}: {each}" for each in wrong]
        # Some do not live to see the end of their own start.
        while self.kills < kills and self._random.random() < 0.2:
            await asyncio.sleep(self._random.uniform(0.2, 1.2))
            self._kill(server)
        await asyncio.to_thread(server.wait_until_ready)
        self._up.add(place)

    def _look(self, database_url: str) -> list[str]:
        return list(recall_ledger.momentary_violations(recall_ledger.read(database_url)))

    def _kill(self, server: ServerProcess) -> None:
        server.kill()
        server.launch()
        self.kills += 1
        self.on_kill(self.kills)


def _chain(number: int, links: int, random: Random) -> list[str]:
    """Recalls each of which schedules the next one in its own turn; the words are nested."""
    texts = [script(random, number)[0]]
    for link in range(links - 1, 0, -1):
        following = {
            **random.choice(({"call_type": "once", "when": "1s"}, {"call_type": "immediate"})),
            "additional_context_message": texts[0],
        }
        call = f"[[tool: schedule_recall | {json.dumps(following)}]]"
        texts.insert(0, f"{number}.{link}: {call} [[say: link {number}.{link}]]")
    return texts
