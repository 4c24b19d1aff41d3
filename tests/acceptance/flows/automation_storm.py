"""Servers that are killed again and again while automations of every kind come due.

Like `recall_storm.py`. Some sessions add automations that run once, some such that beat every
second, some with an expression; each ends by a limit, by its time, or by being switched off or
removed, whatever it does just then. Others are unbound and deliver to a session. People talk in
between.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import httpx2

from navi.domain.automation import Automation, CatchUp, Guards, Kind, Target
from navi.domain.schedule import Every
from navi.runtime.system_jobs import hidden_session
from navi.store import hidden
from navi.store.connection import open_engine
from navi.store.events import open_outbox, store_emitted
from tests.acceptance.flows import automation_ledger
from tests.acceptance.flows.automation_ledger import Asked, Books
from tests.acceptance.flows.ledger import Sent
from tests.acceptance.flows.recall_storm import RecallStorm
from tests.acceptance.flows.storm import LOOK_SECONDS, script, until_at_rest
from tests.acceptance.flows.test_mutants import mutant

KINDS = ("at", "every", "cron")
UNBOUND = 3

SHORT_BEATS = """
from datetime import timedelta
from navi.domain import automation, schedule
automation.ON_TIME = timedelta(seconds=1)
schedule.SHORTEST_EVERY_SECONDS = 1
schedule.require_cron = lambda expr, tz, now: schedule.Cron(expr, tz)
"""
"""The real server, for automations that come due more often than people are allowed to ask for."""
WITH_SHORT_BEATS = mutant(SHORT_BEATS)
SETTINGS = {"NAVI_AUTOMATIONS_KEEP_RUNS": "100000", "TZ": "UTC"}
"""All runs stay on record, so that they can be counted."""


@dataclass(frozen=True, slots=True)
class Report:
    kills: int
    resent: int
    books: Books
    sent: list[Sent]
    violations: list[str]

    def runs(self, *states: str) -> int:
        return sum(run.state in states for run in self.books.runs)

    @property
    def missed(self) -> int:
        return sum(run.missed_count for run in self.books.runs)

    @property
    def delivered(self) -> int:
        return sum(run.delivery == "delivered" for run in self.books.runs)

    @property
    def turns_run_again(self) -> int:
        return sum(turn.died_empty for turn in self.books.ledger.turns)


@dataclass(slots=True)
class AutomationStorm(RecallStorm):
    added: list[Asked] = field(default_factory=list)

    async def run(self, kills: int) -> Report:  # type: ignore[override]
        self._random = Random(self.seed)
        self._up = set(range(len(self.servers)))
        url = self.servers[0].database_url
        async with httpx2.AsyncClient(timeout=30, trust_env=False) as self._http:
            reader = await self._call("POST", "/sessions", {"driver": "scripted"})
            await self._restart_with_unbound(url, reader["id"])
            async with asyncio.TaskGroup() as group:
                group.create_task(self._talk(reader["id"], Random(self.seed)))
                for number, kind in enumerate(KINDS * self.sessions_per_kind):
                    created = await self._call("POST", "/sessions", {"driver": "scripted"})
                    random = Random(f"{self.seed} {number}")
                    group.create_task(self._add_and_end(kind, created["id"], random))
                    group.create_task(self._talk(created["id"], random))
                while self.kills < kills:
                    place = self._random.randrange(len(self.servers))
                    await self._wait_for_the_moment(self.servers[place])
                    await self._kill_and_restart(place, kills)
                self._is_over.set()
            for number in range(UNBOUND):
                await self._call("PATCH", f"/automations/unbound-{number}", {"enabled": False})
        await until_at_rest(url, automation_ledger.progress)
        books = await asyncio.to_thread(automation_ledger.read, url)
        wrong = [
            *self.wrong_in_between,
            *automation_ledger.violations(books, self.sent, self.added),
        ]
        return Report(self.kills, self.resent, books, self.sent, wrong)

    def _look(self, database_url: str) -> list[str]:
        return list(automation_ledger.momentary_violations(automation_ledger.read(database_url)))

    async def _restart_with_unbound(self, url: str, reader_id: str) -> None:
        """They come from an older system: no server adds them, they are there when it starts."""
        for server in self.servers:
            server.kill()
        await asyncio.to_thread(add_unbound, url, reader_id)
        for server in self.servers:
            await asyncio.to_thread(server.start)

    async def _add_and_end(self, kind: str, session_id: str, random: Random) -> None:
        number = 0
        while not self._is_over.is_set():
            number += 1
            text, _ = script(random, number)
            name = f"{session_id} {number}"
            body: dict[str, Any] = {
                "name": name,
                "message": text,
                "catch_up": random.choice(("once", "skip", "all")),
                **self._schedule_of(kind, random),
            }
            made = await self._add(session_id, body)
            await self._until_over(made["id"], random.uniform(2.0, 8.0))
            if kind == "at":
                # What was to run once has to come, also at the end.
                await self._until_done(made["id"])
            if random.random() < 0.3:
                await self._call("DELETE", f"/automations/{made['id']}")
                place = next(i for i, each in enumerate(self.added) if each.name == name)
                self.added[place] = replace(self.added[place], is_removed=True)
            else:
                await self._switch_off(made["id"])

    def _schedule_of(self, kind: str, random: Random) -> dict[str, Any]:
        if kind == "at":
            return {"at": "1s"}
        schedule = {"every_seconds": 1} if kind == "every" else {"cron_expr": "*/2 * * * * *"}
        limit = random.choice(({}, {"max_runs": random.randint(1, 4)}, {"expires_at": "4s"}))
        return {**schedule, **limit}

    async def _add(self, session_id: str, body: dict[str, Any]) -> dict[str, Any]:
        """Only what is unknown is sent again."""
        path = f"/sessions/{session_id}/automations"
        self.added.append(Asked(body["name"], is_confirmed=False))
        place = len(self.added) - 1
        while True:
            try:
                made = await self._try("POST", path, body)
                break
            except httpx2.TransportError:
                self.resent += 1
                known = await self._call("GET", path)
                made = next((each for each in known if each["name"] == body["name"]), None)
                if made is not None:
                    break
        self.added[place] = replace(self.added[place], is_confirmed=True)
        return dict(made)

    async def _until_over(self, automation_id: str, seconds: float) -> None:
        """Until it has ended by itself, or its time is up."""
        give_up_at = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < give_up_at:
            known = await self._call("GET", f"/automations/{automation_id}")
            if not known["enabled"] or self._is_over.is_set():
                return
            await asyncio.sleep(4 * LOOK_SECONDS)

    async def _until_done(self, automation_id: str) -> None:
        while True:
            runs = await self._call("GET", f"/automations/{automation_id}/runs")
            if runs and not any(each["state"] in ("queued", "running") for each in runs):
                return
            await asyncio.sleep(4 * LOOK_SECONDS)

    async def _switch_off(self, automation_id: str) -> None:
        known = await self._call("GET", f"/automations/{automation_id}")
        if known["enabled"]:
            await self._call("PATCH", f"/automations/{automation_id}", {"enabled": False})


def add_unbound(database_url: str, reader_id: str) -> None:
    """Automations that run apart, every second, and deliver to a session."""
    now = datetime.now(UTC)
    engine = open_engine(database_url)
    with engine.begin() as connection:
        open_outbox(connection)
        for number in range(UNBOUND):
            automation = Automation(
                id=f"unbound-{number}",
                user_id="local",
                name=f"unbound {number}",
                kind=Kind.AGENT_TURN,
                session_key=None,
                schedule=(beat := Every(number + 1, now)),
                message=f"[[sleep: 0.05]] [[say: news {number}]]",
                enabled=True,
                catch_up=list(CatchUp)[number],
                guards=Guards(max_failures=1_000_000),
                target=Target("web", reader_id, deliver=True),
                next_run_at=beat.next_after(now),
                created_at=now,
                updated_at=now,
            )
            session = hidden_session(automation, "/", "scripted", now)
            hidden.keep(connection, session, automation, now)
        store_emitted(connection)
    engine.dispose()
