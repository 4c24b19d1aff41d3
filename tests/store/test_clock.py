"""The clock's loop: what it knows ahead, and when it asks again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from navi.domain.recall import Recall
from navi.runtime.clock import AHEAD, PASSED_OVER, TRUSTED, DueLoop
from navi.runtime.recall_due import RecallsDue
from navi.store import queue, recalls
from navi.store.coming import coming_of_each
from tests.hand_clock import HandClock
from tests.store.conftest import World
from tests.store.test_recalls import a_recall

SECOND = timedelta(seconds=1)
STEP = timedelta(milliseconds=10)


@dataclass
class Machine:
    """The loop with a clock that is moved by hand, to each moment at which it wants to look."""

    world: World
    clock: HandClock
    loop: DueLoop
    asked: int = 0

    async def schedule(self, after: timedelta) -> Recall:
        session = await self.world.session()
        at = self.world.now + after
        recall = replace(a_recall(self.world, session), trigger_at=at, due_at=at)
        return await self.world.store.transact(recalls.schedule, recall)

    async def live_until(self, end: datetime) -> None:
        while (next_at := await self.loop.look()) is not None and next_at <= end:
            self.clock.moment = max(self.clock.moment, next_at)
        self.clock.moment = end

    async def fired_at(self, recall: Recall) -> list[datetime | None]:
        waiting = await self.world.store.transact(queue.waiting, recall.session_id)
        return [each.queued_at for each in waiting]


@pytest.fixture
def machine(world: World, monkeypatch: pytest.MonkeyPatch) -> Machine:
    clock = HandClock(world.now)
    kinds = [RecallsDue(world.store, clock, lambda: None)]
    machine = Machine(world, clock, DueLoop(world.store, clock, kinds, lambda kind: None))
    world.store.on_events = machine.loop.notice

    def counted(*arguments: Any) -> list[list[datetime]]:
        machine.asked += 1
        return coming_of_each(*arguments)

    monkeypatch.setattr("navi.runtime.clock.coming_of_each", counted)
    return machine


async def test_recalls_that_follow_each_other_closely_fire_on_time_and_are_not_each_asked_for(
    machine: Machine,
) -> None:
    made = [await machine.schedule(2 * SECOND + number * STEP) for number in range(60)]

    await machine.live_until(made[-1].due_at + SECOND)

    for recall in made:
        assert await machine.fired_at(recall) == [recall.due_at]
    assert machine.asked < len(made) / 2


async def test_a_recall_that_is_scheduled_between_known_ones_fires_at_its_own_time(
    machine: Machine,
) -> None:
    known = [await machine.schedule(AHEAD + number * STEP) for number in range(4)]
    await machine.live_until(known[0].due_at)

    between = await machine.schedule(AHEAD + 1.5 * STEP)
    await machine.live_until(known[-1].due_at + SECOND)

    assert await machine.fired_at(between) == [between.due_at]
    for recall in known:
        assert await machine.fired_at(recall) == [recall.due_at]


async def test_a_recall_that_nobody_told_of_is_found_a_second_later(machine: Machine) -> None:
    known = [await machine.schedule(AHEAD + number * 30 * STEP) for number in range(10)]
    await machine.live_until(known[0].due_at)
    machine.world.store.on_events = None

    untold = await machine.schedule(AHEAD + STEP)
    await machine.live_until(known[-1].due_at + SECOND)

    (fired_at,) = await machine.fired_at(untold)
    assert fired_at is not None
    assert untold.due_at <= fired_at <= untold.due_at + TRUSTED + 30 * STEP


async def test_a_clock_that_is_set_back_is_no_reason_to_believe_an_old_answer(
    machine: Machine,
) -> None:
    known = [await machine.schedule(AHEAD + number * STEP) for number in range(4)]
    await machine.live_until(known[0].due_at)
    asked = machine.asked

    machine.clock.moment -= 3600 * SECOND
    await machine.loop.look()

    assert machine.asked == asked + 1


async def test_a_recall_whose_session_somebody_writes_to_fires_a_moment_later(
    machine: Machine,
) -> None:
    if machine.world.store.kind == "sqlite":
        pytest.skip("SQLite has one writer")
    locked, other = await machine.schedule(SECOND), await machine.schedule(SECOND + STEP)
    await machine.loop.look()

    async with await psycopg.AsyncConnection.connect(machine.world.url) as connection:
        await connection.execute(
            "SELECT * FROM lanes WHERE session_id = %s FOR UPDATE", (locked.session_id,)
        )
        machine.clock.moment = locked.due_at
        assert await machine.loop.look() == locked.due_at + PASSED_OVER
        assert await machine.fired_at(locked) == []
    machine.clock.moment += PASSED_OVER
    await machine.live_until(other.due_at + SECOND)

    assert await machine.fired_at(locked) == [locked.due_at + PASSED_OVER]
    assert await machine.fired_at(other) == [other.due_at]
