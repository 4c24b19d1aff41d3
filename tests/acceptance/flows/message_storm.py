"""Servers that are killed again and again while a lead writes to its workers, and is told of it.

Each message is numbered and asks for notices; reminders for once are spread over the storm. In the
end every message, notice and reminder must have arrived exactly once. Used by the short flow test
and by the long `benchmarks.message_chaos`.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx2

from tests.acceptance.flows import ledger
from tests.acceptance.flows.ledger import snapshot
from tests.acceptance.flows.storm import until_at_rest
from tests.server import Client, ServerProcess

Row = dict[str, Any]
INPUTS = "id, session_id, turn_id, origin, delivery_mode, text, metadata, delivered_at"


@dataclass(frozen=True, slots=True)
class Report:
    kills: int
    resent: int
    messages: int
    joined: int
    """Messages that shared a turn with another one."""
    notices: int
    reminders: int
    violations: list[str]


@dataclass(slots=True)
class MessageStorm:
    servers: Sequence[ServerProcess]
    seed: int
    messages: int = 60
    workers: int = 3
    drivers: Sequence[str] = ("scripted",)
    longest_life_seconds: float = 2.0
    on_kill: Callable[[int], None] = lambda kills: None

    kills: int = 0
    resent: int = 0
    _random: Random = field(init=False)
    _sent: dict[str, str] = field(default_factory=dict)
    """The worker of each message, by the message's id."""
    _reminders: dict[str, str] = field(default_factory=dict)

    async def run(self, kills: int) -> Report:
        self._random = Random(self.seed)
        lead = (await self._call("POST", "/sessions", {"driver": "scripted"}, 201))["id"]
        workers = [
            (await self._call("POST", "/sessions", self._worker(number, lead), 201))["id"]
            for number in range(self.workers)
        ]
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(self._send_all(lead, workers))
            while self.kills < kills:
                await asyncio.sleep(self._random.uniform(0.0, self.longest_life_seconds))
                await self._kill_one()
            await sending
        url = self.servers[0].database_url
        await self._until_reminders_came(url)
        await until_at_rest(url, ledger.progress)
        rows = await asyncio.to_thread(_inputs, url)
        turns = defaultdict(list)
        for row in rows:
            turns[row["turn_id"]].append(row)
        return Report(
            kills=self.kills,
            resent=self.resent,
            messages=len(self._sent),
            joined=sum(row["id"] in self._sent and len(turns[row["turn_id"]]) > 1 for row in rows),
            notices=sum("notice" in row["metadata"] for row in rows),
            reminders=len(self._reminders),
            violations=[*self._wrong(rows, turns)],
        )

    def _worker(self, number: int, lead: str) -> dict[str, str]:
        driver = self.drivers[number % len(self.drivers)]
        return {"driver": driver, "parent_id": lead, "name": f"worker-{number}"}

    async def _send_all(self, lead: str, workers: Sequence[str]) -> None:
        for number in range(self.messages):
            worker = self._random.choice(workers)
            pause = f"[[sleep: {self._random.uniform(0.0, 0.3):.2f}]]"
            message_id = f"message-{self.seed}-{number}"
            body = {
                "text": f"{number}: {pause} [[say: answer {number}]]",
                "input_id": message_id,
                "sender_session_id": lead,
                "delivery_mode": self._random.choice(["sequential", "sequential", "important"]),
                "notify_on_delivery": True,
                "notify_on_stop": True,
            }
            self._sent[message_id] = worker
            await self._call("POST", f"/sessions/{worker}/input", body, 202)
            if number % 10 == 0:
                # Asked once only: a lost answer would leave one that nobody knows of.
                asked = {"session_id": worker, "delay_seconds": 0.5, "message": f"nudge {number}"}
                with suppress(httpx2.TransportError):
                    made = await self._try("POST", "/scheduler/remind", asked, 200)
                    self._reminders[made["reminder_id"]] = worker
            await asyncio.sleep(self._random.uniform(0.0, 0.2))

    async def _call(self, method: str, path: str, body: Any, expect: int) -> Any:
        """Until it is answered."""
        while True:
            try:
                return await self._try(method, path, body, expect)
            except (httpx2.TransportError, OSError):
                self.resent += 1
                await asyncio.sleep(0.05)

    async def _try(self, method: str, path: str, body: Any, expect: int) -> Any:
        server = self._random.choice(self.servers)
        async with server.client() as client:
            client_: Client = client
            return await client_.call(method, path, body, expect=expect)

    async def _kill_one(self) -> None:
        server = self._random.choice(self.servers)
        server.kill()
        self.kills += 1
        self.on_kill(self.kills)
        await asyncio.to_thread(server.start)

    async def _until_reminders_came(self, url: str) -> None:
        def progress(url: str) -> tuple[int, bool]:
            with snapshot(url) as query:
                (pending,) = query(
                    "SELECT count(*) FROM scheduled_reminders WHERE status = 'pending'"
                )[0]
                (position,) = query("SELECT last_position FROM feed")[0]
            return position, pending == 0

        await until_at_rest(url, progress)

    def _wrong(self, rows: Sequence[Row], turns: dict[Any, list[Row]]) -> Iterator[str]:
        by_id = Counter(row["id"] for row in rows)
        stored = {row["id"]: row for row in rows}
        for message_id, worker in self._sent.items():
            if by_id[message_id] != 1 or stored[message_id]["session_id"] != worker:
                yield f"{message_id} is stored {by_id[message_id]} times"
            elif stored[message_id]["delivered_at"] is None:
                yield f"{message_id} was never delivered"
            if by_id[f"{message_id}.delivered"] != 1:
                yield f"of the delivery of {message_id} the lead was not told"
        for turn_id, inputs in turns.items():
            asking = [row for row in inputs if row["id"] in self._sent]
            told = [row for row in asking if by_id[f"{row['id']}.stopped"]]
            if asking and len(told) != 1:
                yield f"of the end of turn {turn_id} the lead was told {len(told)} times"
        for reminder_id in self._reminders:
            if by_id[f"{reminder_id}.reminder"] != 1:
                yield f"reminder {reminder_id} came {by_id[f'{reminder_id}.reminder']} times"


def _inputs(url: str) -> list[Row]:
    names = INPUTS.split(", ")
    with snapshot(url) as query:
        found = [
            dict(zip(names, row, strict=True))
            for row in query(f"SELECT {INPUTS} FROM message_queue")
        ]
        said = Counter(row[0] for row in query("SELECT id FROM messages WHERE role = 'user'"))
    for row in found:
        if isinstance(row["metadata"], str):
            row["metadata"] = json.loads(row["metadata"])
    missing = [row["id"] for row in found if said[row["id"]] != 1]
    assert missing == [], f"not in the transcript exactly once: {missing}"
    return found
