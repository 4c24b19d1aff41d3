"""What the scheduler claims, and when it looks again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import psycopg
import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from navi.live.model.input import Input
from navi.live.model.scheduling.recall import Recall
from navi.live.runtime.scheduler.due_loop import FIRST_RETRY, LONGEST_SLEEP, WAKE_LEAD, DueLoop
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import Claimed, claim_one
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.scheduling import recalls
from tests.hand_clock import HandClock
from tests.integration.store.recall_steps import a_recall
from tests.store_world import World

SECOND = timedelta(seconds=1)
STEP = timedelta(milliseconds=10)


@dataclass
class Machine:
    """The scheduler with a clock that is moved by hand to each moment at which it looks."""

    world: World
    clock: HandClock
    scheduler: DueLoop
    expected: list[tuple[datetime, Input]] = field(default_factory=list)
    """What was claimed, and when."""
    passes: int = 0

    def expect(self, claimed: Claimed) -> None:
        self.expected += [(self.clock.moment, each) for each in claimed.inputs]

    async def schedule(self, after: timedelta) -> Recall:
        session = await self.world.session()
        at = self.world.now + after
        recall = replace(a_recall(self.world, session), trigger_at=at, due_at=at)
        return await self.world.store.transact(recalls.schedule, recall)

    async def live_until(self, end: datetime) -> None:
        while (next_at := await self.scheduler.claim_due()) <= end:
            self.passes += 1
            self.clock.moment = max(self.clock.moment, next_at)
        self.clock.moment = end

    def claimed(self, recall: Recall) -> list[tuple[datetime, datetime | None]]:
        return [
            (at, each.not_before)
            for at, each in self.expected
            if each.session_id == recall.session_id
        ]


@pytest.fixture
def machine(world: World) -> Machine:
    clock = HandClock(world.now)
    machine = Machine(world, clock, DueLoop(world.store, clock, [DueRecalls()], None))  # type: ignore[arg-type]
    machine.scheduler._admission = machine  # type: ignore[assignment]
    return machine


async def test_recalls_are_claimed_ahead_of_their_instants_and_those_close_together_share_passes(
    machine: Machine,
) -> None:
    made = [await machine.schedule(2 * SECOND + number * STEP) for number in range(60)]

    await machine.live_until(made[-1].due_at + SECOND)

    for recall in made:
        ((claimed_at, not_before),) = machine.claimed(recall)
        assert not_before == recall.due_at
        assert recall.due_at - SECOND <= claimed_at <= recall.due_at - WAKE_LEAD * SECOND
    assert machine.passes < len(made) / 10


async def test_a_recall_that_is_due_at_once_is_claimed_at_once(machine: Machine) -> None:
    recall = await machine.schedule(timedelta(0))

    await machine.scheduler.claim_due()

    assert machine.claimed(recall) == [(recall.due_at, recall.due_at)]


async def test_without_anything_due_the_scheduler_looks_once_a_minute(machine: Machine) -> None:
    await machine.schedule(3600 * SECOND)
    assert await machine.scheduler.claim_due() == machine.clock.moment + LONGEST_SLEEP


async def test_a_recall_whose_session_is_being_written_to_is_claimed_a_moment_later(
    machine: Machine,
) -> None:
    if machine.world.store.dialect.kind == "sqlite":
        pytest.skip("SQLite has one writer")
    locked, other = await machine.schedule(SECOND), await machine.schedule(SECOND)

    async with await psycopg.AsyncConnection.connect(machine.world.url) as connection:
        await connection.execute(
            "SELECT * FROM lanes WHERE session_id = %s FOR UPDATE", (locked.session_id,)
        )
        assert await machine.scheduler.claim_due() == machine.clock.moment + FIRST_RETRY
        assert machine.claimed(locked) == []
        assert len(machine.claimed(other)) == 1
    await machine.live_until(locked.due_at)

    assert len(machine.claimed(locked)) == 1


async def test_a_row_that_failed_because_the_database_did_is_not_set_aside(world: World) -> None:
    if world.store.dialect.kind == "sqlite":
        pytest.skip("SQLite has one writer, and no deadlocks")
    deadlock = text("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$")

    class Deadlocked(DueRecalls):
        def claim(
            self, connection: Connection, now: datetime, until: datetime, limit: int
        ) -> Claimed:
            connection.execute(deadlock)
            return super().claim(connection, now, until, limit)

    session = await world.session()
    recall = await world.store.transact(recalls.schedule, a_recall(world, session))

    def claim(connection: Connection) -> None:
        with pytest.raises(DBAPIError):
            claim_one(connection, Deadlocked(), recall.due_at, recall.due_at)

    await world.store.transact(claim)

    assert await world.store.transact(set_aside.list_rows) == []
