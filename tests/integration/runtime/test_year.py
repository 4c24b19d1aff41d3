"""A year of recalls in virtual time, on the real scheduler and a real store.

What fires, and when, is compared with plain arithmetic on the planned occurrences.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Connection

from navi.base.ids import new_id
from navi.base.time_expressions import parse_when
from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import Input
from navi.live.model.message import drafts_of
from navi.live.model.scheduling.recall import CallType, Recall, RecallStatus
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome
from navi.live.runtime.scheduler import due_loop
from navi.live.runtime.scheduler.due_loop import DueLoop
from navi.live.store import lanes, sessions, turns
from navi.live.store.due.contract import Claimed
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.engine import schema
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import recalls
from tests.hand_clock import HandClock
from tests.postgres import PostgresServer

pytestmark = pytest.mark.proof

START = datetime(2026, 1, 1, tzinfo=UTC)
END = datetime(2027, 1, 1, tzinfo=UTC)
STEP = timedelta(hours=12)
"""Times are round, as people choose them: then many recalls are due at the same instant."""
SHORTEST, LONGEST = 40, 400
"""Intervals, in steps."""
# Clocks change in spring, in autumn by half an hour, and around Ramadan.
ZONES = ("Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca")


@dataclass
class Fire:
    due_at: datetime
    fired_at: datetime
    missed: int
    ended_at: datetime


@dataclass
class Machine:
    """A server in virtual time: it sleeps, is shut down now and then, and starts again."""

    url: str
    chance: random.Random
    clock: HandClock = field(default_factory=lambda: HandClock(START))
    restarts: int = 0
    fires: dict[str, list[Fire]] = field(default_factory=lambda: defaultdict(list))
    expected: list[datetime] = field(default_factory=list)
    """The instants of inputs that were admitted ahead."""

    @property
    def now(self) -> datetime:
        return self.clock.moment

    def start(self) -> None:
        self.store = Store(self.url)
        self.store.start()
        # The scheduler only calls a queue's `expect`.
        self.scheduler = DueLoop(self.store, self.clock, [DueRecalls()], self)  # type: ignore[arg-type]

    def expect(self, claimed: Claimed) -> None:
        for each in claimed.inputs:
            assert each.not_before is not None
            assert self.now >= each.not_before - timedelta(seconds=1)
            self.expected.append(each.not_before)

    async def restart_after(self, pause: timedelta) -> None:
        await self.store.close()
        self.clock.moment += pause
        self.restarts += 1
        self.start()

    async def live_until(self, end: datetime) -> None:
        outage = self.now + timedelta(days=10)
        while self.now < end:
            next_at = await self.scheduler.claim_due()
            while await self.work():
                # The end of a turn wakes the scheduler.
                next_at = await self.scheduler.claim_due()
            if self.now >= outage:
                # The first outage is long enough for occurrences to be missed.
                hours = self.chance.uniform(0, 200) if self.restarts else 1_500
                await self.restart_after(timedelta(hours=hours))
                outage = self.now + timedelta(days=self.chance.uniform(5, 40))
            else:
                self.expected = [at for at in self.expected if at > self.now]
                self.clock.moment = max(self.now, min([next_at, *self.expected]))
        await self.scheduler.claim_due()
        await self.work()

    async def work(self) -> bool:
        """Run the turns of all waiting inputs. Some take so long that occurrences pass."""
        waiting = await self.store.transact(lanes.ready, self.now, 2_000)
        ready = [each.session_id for each in waiting]
        for ran, ended_at in await self.store.transact(self.run_turns, ready):
            assert ran.not_before is not None
            self.fires[ran.metadata["recall_id"]].append(
                Fire(
                    due_at=ran.not_before,
                    fired_at=self.now,
                    missed=ran.metadata["missed_count"],
                    ended_at=ended_at,
                )
            )
        return bool(ready)

    def run_turns(
        self, connection: Connection, session_ids: Sequence[str]
    ) -> list[tuple[Input, datetime]]:
        ran = []
        for session_id in session_ids:
            is_long = self.chance.random() < 0.02
            took = STEP * LONGEST * self.chance.random() if is_long else timedelta(seconds=1)
            ended_at = self.now + took
            ran.append((run_turn(connection, session_id, self.now, ended_at), ended_at))
        return ran


def run_turn(
    connection: Connection, session_id: str, started_at: datetime, ended_at: datetime
) -> Input:
    claim = turns.Claim(new_id(), "me", ended_at, started_at)
    begun = turns.begin(connection, session_id, claim)
    assert begun is not None
    if (zone := begun.turn.session.task) is not None:
        at = parse_when("tomorrow at 09:00", ended_at, ZoneInfo(zone))
        recalls.schedule(connection, planned(session_id, at, None, ended_at))
    events = [TextDelta("done")]
    ending = Ending(Outcome.OK)
    turns.finish(connection, begun.turn, 0, events, drafts_of(events), ending, Usage(), ended_at)
    return begun.turn.input


def planned(
    session_id: str, at: datetime, interval: timedelta | None, now: datetime = START
) -> Recall:
    return Recall(
        id=new_id(),
        session_id=session_id,
        call_type=CallType.ONCE if interval is None else CallType.RECURRING,
        trigger_at=at,
        due_at=at,
        interval_seconds=None if interval is None else int(interval.total_seconds()),
        internal_comment=None,
        additional_context_message="Read build.log",
        status=RecallStatus.PENDING,
        outcome=None,
        error=None,
        missed_count=0,
        created_at=now,
        updated_at=now,
    )


def create(connection: Connection, recall: Recall, zone: str | None = None) -> Recall:
    session = Session.new("local", "scripted", "/", START, id=recall.session_id, name="year")
    session = replace(session, task=zone)
    sessions.create(connection, session)
    return recalls.schedule(connection, recall)


def occurrence_after(before: Fire, interval: timedelta) -> datetime:
    """The first occurrence of the grid after the turn before it ended."""
    occurrence = before.due_at
    while occurrence <= before.ended_at:
        occurrence += interval
    return occurrence


async def play(url: str, count: int) -> Machine:
    """A year with that many recurring recalls, and one per zone for each next morning.

    Returns the machine at the end of the year, after each fire was compared with arithmetic.
    """
    schema.prepare(url)
    chance = random.Random(2026)
    machine = Machine(url, chance)
    machine.start()
    recurring: list[Recall] = []
    for _ in range(count):
        interval = STEP * chance.randint(SHORTEST, LONGEST)
        recall = planned(new_id(), START + STEP * chance.randint(1, SHORTEST), interval)
        recurring.append(await machine.store.transact(create, recall))
    mornings: list[tuple[str, str]] = []
    for zone in ZONES:
        at = parse_when("tomorrow at 09:00", START, ZoneInfo(zone))
        recall = await machine.store.transact(create, planned(new_id(), at, None), zone)
        mornings.append((recall.session_id, zone))
    await machine.live_until(END)
    for recall in recurring:
        await check_occurrences(machine, recall)
    for session_id, zone in mornings:
        await check_mornings(machine, session_id, ZoneInfo(zone))
    await machine.store.close()
    return machine


async def check_occurrences(machine: Machine, recall: Recall) -> None:
    interval = timedelta(seconds=recall.interval_seconds or 0)
    fires = machine.fires[recall.id]
    assert fires[0].due_at == recall.due_at
    for fire in fires:
        assert fire.fired_at >= fire.due_at
        assert fire.missed == (fire.fired_at - fire.due_at) // interval
    for before, fire in pairwise(fires):
        assert fire.due_at == occurrence_after(before, interval)
    (kept,) = await machine.store.transact(recalls.list_recalls, recall.session_id)
    assert kept.status is RecallStatus.PENDING
    assert kept.missed_count == sum((fire.ended_at - fire.due_at) // interval for fire in fires)
    assert kept.due_at == occurrence_after(fires[-1], interval) > machine.now


async def check_mornings(machine: Machine, session_id: str, zone: ZoneInfo) -> None:
    """Nine in the morning local time, on the day after the previous one was done."""
    listed = await machine.store.transact(recalls.list_recalls, session_id)
    newest, *fired = listed
    assert newest.status is RecallStatus.PENDING
    for recall in fired:
        (fire,) = machine.fires[recall.id]
        assert recall.status is RecallStatus.FIRED
        assert fire.due_at == recall.due_at <= fire.fired_at
    for later, earlier in pairwise(listed):
        done = machine.fires[earlier.id][0].ended_at.astimezone(zone)
        planned_for = later.due_at.astimezone(zone)
        assert (planned_for.hour, planned_for.minute) == (9, 0)
        assert planned_for.date() == done.date() + timedelta(days=1)


@pytest.fixture(autouse=True)
def sleep_as_long_as_nothing_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the scheduler would look every minute of the year."""
    monkeypatch.setattr(due_loop, "LONGEST_SLEEP", END - START)


async def test_a_year_of_a_thousand_recurring_recalls_keeps_every_occurrence(
    tmp_path: Path,
) -> None:
    machine = await play(sqlite_url(tmp_path / "navi.sqlite3"), 1_000)

    fires = [fire for fires in machine.fires.values() for fire in fires]
    assert machine.restarts > 5
    assert any(fire.missed for fire in fires)
    assert len(fires) > 3_000


async def test_a_year_keeps_every_beat_on_postgresql_too(postgres: PostgresServer) -> None:
    machine = await play(postgres.create_database(), 50)

    assert machine.restarts > 5
