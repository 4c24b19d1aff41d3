"""Sessions add automations that run once, every second, or by an expression, while people talk.

Each ends at a limit or a time, or is disabled or removed, even in the middle of a run.
Others are unbound and deliver to a session.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from typing import Any, ClassVar

import httpx2

from navi.live.model.scheduling.automation import Automation, CatchUp, Guards, Kind, Target
from navi.live.model.scheduling.schedule import Every
from navi.live.runtime.scheduler.system_jobs import hidden_session
from navi.live.store.engine.connection import open_engine
from navi.live.store.events import open_outbox, store_emitted
from navi.live.store.scheduling import hidden_sessions
from tests.acceptance.flows.ledger import AddedAutomation
from tests.acceptance.flows.mutants import mutant
from tests.acceptance.flows.storm import LOOK_SECONDS, Report, Storm, Workload, script
from tests.server import ServerProcess

KINDS = ("at", "every", "cron")
UNBOUND = 3

SHORT_BEATS = """
from datetime import timedelta
from navi.live.model.scheduling import automation, schedule
automation.ON_TIME = timedelta(seconds=1)
schedule.SHORTEST_EVERY_SECONDS = 1
schedule.require_cron = lambda expr, tz, now: schedule.Cron(expr, tz)
"""
"""The real server, for automations that come due more often than people are allowed to ask for."""


@dataclass(slots=True)
class Automations(Workload):
    sessions: int = 9

    # All runs stay on record, so that they can be counted.
    settings: ClassVar = {"NAVI_AUTOMATIONS_KEEP_RUNS": "100000", "TZ": "UTC"}
    command = mutant(SHORT_BEATS)
    moments = ("input_queued", "automation_update", "stream_start", "stream_delta", "message_added")

    async def start(self, storm: Storm) -> Sequence[Coroutine[Any, Any, None]]:
        reader = await storm.session()
        # Imported from an older system, so they exist before the server starts.
        await storm.restart_all(lambda: add_unbound(storm.database_url, reader))
        work = [storm.talk(reader, Random(storm.seed), (0.5, 5.0))]
        for number in range(max(self.sessions, len(KINDS))):
            session_id = await storm.session()
            random = Random(f"{storm.seed} {number}")
            work.append(self._add_and_end(storm, KINDS[number % len(KINDS)], session_id, random))
            work.append(storm.talk(session_id, random, (0.5, 5.0)))
        return work

    async def finish(self, storm: Storm) -> None:
        for number in range(UNBOUND):
            await storm.call("PATCH", f"/automations/unbound-{number}", {"enabled": False})

    async def _add_and_end(self, storm: Storm, kind: str, session_id: str, random: Random) -> None:
        number = 0
        while not storm.is_over.is_set():
            number += 1
            text, _ = script(random, number)
            body = {
                "name": f"{session_id} {number}",
                "message": text,
                "catch_up": random.choice(("once", "skip", "all")),
                **_schedule_of(kind, random),
            }
            place = len(storm.added)
            path = f"/automations/{await self._add(storm, session_id, body)}"
            await self._until_over(storm, path, random.uniform(2.0, 8.0))
            if kind == "at":
                # One-off automations still have to run at the end.
                await self._until_done(storm, path)
            if random.random() < 0.3:
                await storm.call("DELETE", path)
                storm.added[place] = replace(storm.added[place], is_removed=True)
            elif (await storm.call("GET", path))["enabled"]:
                await storm.call("PATCH", path, {"enabled": False})

    async def _add(self, storm: Storm, session_id: str, body: dict[str, Any]) -> str:
        """Retry only if no server has it."""
        path = f"/sessions/{session_id}/automations"
        place = len(storm.added)
        storm.added.append(AddedAutomation(body["name"], is_confirmed=False))
        created = None
        while created is None:
            try:
                created = await storm.call_once("POST", path, body)
            except httpx2.TransportError:
                storm.resent += 1
                stored = await storm.call("GET", path)
                created = next((each for each in stored if each["name"] == body["name"]), None)
        storm.added[place] = replace(storm.added[place], is_confirmed=True)
        return str(created["id"])

    async def _until_over(self, storm: Storm, path: str, seconds: float) -> None:
        """Wait until it has ended by itself, or its time is up."""
        give_up_at = time.monotonic() + seconds
        while time.monotonic() < give_up_at and not storm.is_over.is_set():
            if not (await storm.call("GET", path))["enabled"]:
                return
            await asyncio.sleep(4 * LOOK_SECONDS)

    async def _until_done(self, storm: Storm, path: str) -> None:
        while True:
            runs = await storm.call("GET", f"{path}/runs")
            if runs and not any(each["state"] in ("queued", "running") for each in runs):
                return
            await asyncio.sleep(4 * LOOK_SECONDS)

    def figures(self, report: Report) -> dict[str, int]:
        runs = report.ledger.runs
        states = Counter(run.state for run in runs)
        return {
            "automations left": len(report.ledger.automations),
            "runs": states["turn_completed"] + states["failed"] + states["cancelled"],
            "… completed": states["turn_completed"],
            "… failed": states["failed"],
            "… cancelled": states["cancelled"],
            "occurrences missed": sum(run.missed_count for run in runs),
            "answers delivered": sum(run.delivery == "delivered" for run in runs),
            "messages of people": len(report.sent),
        }


def _schedule_of(kind: str, random: Random) -> dict[str, Any]:
    if kind == "at":
        return {"at": "1s"}
    schedule = {"every_seconds": 1} if kind == "every" else {"cron_expr": "*/2 * * * * *"}
    limit = random.choice(({}, {"max_runs": random.randint(1, 4)}, {"expires_at": "4s"}))
    return {**schedule, **limit}


def add_unbound(database_url: str, reader_id: str) -> None:
    """Automations that run apart, every second or so, and deliver to a session."""
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
            hidden_sessions.add_or_update(connection, session, automation, now)
        store_emitted(connection)
    engine.dispose()


async def let_beat(server: ServerProcess) -> None:
    """Add an automation to a session and some unbound ones, every second or so; kill the server."""
    async with server.client() as client:
        session_id = await client.session()
        body = {"name": "bound", "message": "[[say: looked]]", "every_seconds": 1}
        await client.call("POST", f"/sessions/{session_id}/automations", body, expect=201)
    server.kill()
    await asyncio.to_thread(add_unbound, server.database_url, session_id)


async def switch_off(server: ServerProcess) -> None:
    """End what `let_beat` started."""
    async with server.client() as client:
        stored = await client.call("GET", "/automations")
        for each in stored:
            if each["category"] != "system" and each["enabled"]:
                await client.call("PATCH", f"/automations/{each['id']}", {"enabled": False})
        assert sum(each["category"] != "system" for each in stored) == UNBOUND + 1
