from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from navi.domain.event import TextDelta, Usage
from navi.domain.ids import new_id
from navi.domain.input import NewInput
from navi.domain.message import drafts_of
from navi.domain.recall import CallType, Recall, RecallStatus
from navi.domain.session import Session
from navi.domain.turn import SERVER_STOPPED, Ending, Outcome
from navi.runtime import recall_due
from navi.runtime.recalls import compose
from navi.runtime.system_clock import SystemClock
from navi.store import due, lanes, queue, recalls, sessions, turns
from tests.store.conftest import World, earliest

MINUTE = timedelta(minutes=1)


def a_recall(world: World, session: Session, interval: int | None = None) -> Recall:
    """A recall that is due in a minute."""
    return Recall(
        id=new_id(),
        session_id=session.id,
        call_type=CallType.ONCE if interval is None else CallType.RECURRING,
        trigger_at=world.now + MINUTE,
        due_at=world.now + MINUTE,
        interval_seconds=interval,
        internal_comment=None,
        additional_context_message="Read build.log",
        status=RecallStatus.PENDING,
        outcome=None,
        error=None,
        missed_count=0,
        created_at=world.now,
        updated_at=world.now,
    )


async def scheduled(world: World, session: Session, interval: int | None = None) -> Recall:
    return await world.store.transact(recalls.schedule, a_recall(world, session, interval))


async def fire(world: World, session: Session, now: datetime) -> bool:
    """Whether that admitted an input of the session."""
    world.now = now
    before = await world.store.transact(queue.waiting, session.id)
    await world.store.transact(due.fire, now, 10, compose)
    return len(await world.store.transact(queue.waiting, session.id)) > len(before)


async def end(world: World, begun: turns.Begun | None, ending: Ending) -> None:
    assert begun is not None
    happened = [TextDelta("answer")]
    drafts = drafts_of(happened)
    await world.store.transact(
        turns.finish, begun.turn, 0, happened, drafts, ending, Usage(), world.later()
    )


async def newest(world: World, session: Session) -> Recall:
    return (await world.store.transact(recalls.listing, session.id))[0]


async def test_a_recall_is_due_at_its_time_and_fires_once(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session)

    assert await earliest(world.store, recalls) == recall.due_at
    assert not await fire(world, session, world.now)
    assert await fire(world, session, recall.due_at)
    assert not await fire(world, session, recall.due_at)

    (waiting,) = await world.store.transact(queue.waiting, session.id)
    assert (waiting.origin, waiting.text) == ("recall", "Read build.log")
    assert "Read build.log" in (waiting.prompt or "")
    assert await earliest(world.store, recalls) is None


async def test_after_ten_missed_beats_a_recall_fires_once_keeps_its_beat_and_says_so(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    late = recall.due_at + 10 * MINUTE + timedelta(seconds=5)

    assert await fire(world, session, late)
    (waiting,) = await world.store.transact(queue.waiting, session.id)
    assert "10" in (waiting.prompt or "")
    await end(world, await world.begin(session), Ending(Outcome.OK))

    after = await newest(world, session)
    assert (after.status, after.missed_count) == (RecallStatus.PENDING, 10)
    assert after.due_at == recall.due_at + 11 * MINUTE


async def test_beats_that_pass_while_the_turn_of_an_earlier_one_runs_count_as_missed(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    await fire(world, session, recall.due_at + 2 * MINUTE)
    begun = await world.begin(session)

    world.now += 3 * MINUTE
    await end(world, begun, Ending(Outcome.OK))

    after = await newest(world, session)
    assert after.due_at == recall.due_at + 6 * MINUTE
    assert after.missed_count == 5


async def test_a_recall_whose_server_died_before_it_spoke_runs_again_and_counts_once(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    await fire(world, session, recall.due_at)
    await world.begin(session)
    (dead,) = await world.store.transact(lanes.running)

    await world.store.transact(turns.close_dead, dead, world.later())
    assert (await newest(world, session)).status is RecallStatus.RUNNING

    await end(world, await world.begin(session), Ending(Outcome.OK))
    assert (await newest(world, session)).status is RecallStatus.FIRED


async def test_a_recall_whose_server_died_while_it_spoke_ends_visibly_and_not_twice(
    world: World,
) -> None:
    for interval, status in ((None, RecallStatus.CANCELLED), (60, RecallStatus.PENDING)):
        session = await world.session()
        recall = await scheduled(world, session, interval)
        await fire(world, session, recall.due_at)
        begun = await world.begin(session)
        assert begun is not None
        await world.store.transact(turns.extend, begun.turn, 0, [TextDelta("I")], world.later())
        (dead,) = await world.store.transact(lanes.running)

        await world.store.transact(turns.close_dead, dead, world.later())

        after = await newest(world, session)
        assert (after.status, after.outcome, after.error) == (status, "error", SERVER_STOPPED)
        assert await world.store.transact(queue.waiting, session.id) == []


async def test_a_due_recall_of_a_busy_session_is_moved_and_pulled_back(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    begun = await world.begun(session)

    assert not await fire(world, session, recall.due_at)
    moved = await newest(world, session)
    assert (moved.status, moved.trigger_at) == (RecallStatus.PENDING, recall.due_at + MINUTE)

    await end(world, begun, Ending(Outcome.OK))
    pulled = await newest(world, session)
    assert pulled.trigger_at == world.now
    assert pulled.due_at == recall.due_at


async def test_missed_beats_of_a_recall_that_is_moved_first_are_counted_once(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    begun = await world.begun(session)
    late = recall.due_at + 10 * MINUTE
    assert not await fire(world, session, late)
    assert (await newest(world, session)).missed_count == 0
    await end(world, begun, Ending(Outcome.OK))

    assert await fire(world, session, late + timedelta(seconds=1))

    assert (await newest(world, session)).missed_count == 10


async def test_a_recurring_recall_makes_way_for_one_that_its_own_turn_scheduled(
    world: World,
) -> None:
    session = await world.session()
    beat = await scheduled(world, session, interval=60)
    await fire(world, session, beat.due_at)
    begun = await world.begin(session)
    newer = await scheduled(world, session)

    await end(world, begun, Ending(Outcome.OK))

    kept = {each.id: each for each in await world.store.transact(recalls.listing, session.id)}
    assert kept[newer.id] == newer
    assert kept[beat.id].status is RecallStatus.FIRED


async def test_a_cancelled_recall_that_runs_has_no_further_beats(world: World) -> None:
    session = await world.session()
    beat = await scheduled(world, session, interval=60)
    await fire(world, session, beat.due_at)
    begun = await world.begin(session)

    await world.store.transact(recalls.cancel, session.id, world.later())
    await end(world, begun, Ending(Outcome.OK))

    assert (await newest(world, session)).status is RecallStatus.CANCELLED


async def test_what_was_made_ahead_is_what_would_be_made_at_the_instant(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    upcoming = await world.store.transact(due.upcoming, world.now, recall.due_at, 10)
    made_ahead = compose(recall, recall.due_at, 0)
    ready = {recall.id: due.make_ready(recall, compose)}
    moment = recall.due_at + timedelta(milliseconds=20)

    await world.store.transact(due.fire, moment, 10, _must_not_compose, ready)

    (waiting,) = await world.store.transact(queue.waiting, session.id)
    assert upcoming == [recall]
    assert (waiting.prompt, waiting.metadata) == (made_ahead.prompt, made_ahead.metadata)
    assert waiting.prompt == compose(recall, moment, 0).prompt


async def test_what_was_made_ahead_is_void_once_the_recall_changed_or_its_second_passed(
    world: World,
) -> None:
    for late, is_skipped in ((timedelta(seconds=2), False), (timedelta(0), True)):
        session = await world.session()
        recall = await scheduled(world, session, interval=60)
        stale = replace(recall, additional_context_message="Read what is no longer wanted")
        ready = {recall.id: due.make_ready(stale, compose)}
        moment = recall.due_at + late
        if is_skipped:
            moment = (await world.store.transact(recalls.skip, session.id, world.later())).due_at

        await world.store.transact(due.fire, moment, 10, compose, ready)

        (waiting,) = await world.store.transact(queue.waiting, session.id)
        assert waiting.text == "Read build.log"


async def test_many_recalls_due_at_once_fire_once_each_although_several_fire_them(
    world: World,
) -> None:
    everybody = [await world.session() for _ in range(60)]
    for session in everybody:
        await scheduled(world, session)
    moment = world.now + MINUTE

    seen = await asyncio.gather(
        *(world.store.transact(due.fire, moment, 16, compose) for _ in range(8))
    )

    assert sum(seen) == 60
    for session in everybody:
        assert len(await world.store.transact(queue.waiting, session.id)) == 1
        told = [each.type for each in world.told if each.session_id == session.id]
        assert told[-2:] == ["input_queued", "recall_update"]


async def test_among_many_due_recalls_those_of_busy_and_ended_sessions_do_not_fire(
    world: World,
) -> None:
    free, busy, ended = [await world.session() for _ in range(3)]
    for session in (free, busy, ended):
        await scheduled(world, session)
    await world.begun(busy)
    await world.store.transact(sessions.kill, ended.id, world.later())
    moment = world.now + 2 * MINUTE

    assert await world.store.transact(due.fire, moment, 10, compose) == 2

    assert (await newest(world, free)).status is RecallStatus.RUNNING
    assert (await newest(world, busy)).trigger_at == moment + MINUTE
    assert (await newest(world, ended)).status is RecallStatus.CANCELLED
    assert await world.store.transact(due.fire, moment, 10, compose) == 0


async def test_a_recurring_recall_whose_session_was_killed_during_its_turn_has_no_next_beat(
    world: World,
) -> None:
    session = await world.session()
    beat = await scheduled(world, session, interval=60)
    await fire(world, session, beat.due_at)
    begun = await world.begin(session)

    await world.store.transact(sessions.kill, session.id, world.later())
    await end(world, begun, Ending(Outcome.STOPPED))

    assert (await newest(world, session)).status is RecallStatus.CANCELLED
    assert await world.store.transact(due.fire, world.now + 60 * MINUTE, 10, compose) == 0


async def test_what_is_written_ahead_of_its_time_never_happened_if_the_clock_is_set_back(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    told = len(world.told)
    clock = SettableClock()
    clock.set(recall.due_at - MINUTE)
    wait = recall_due.RecallsDue(world.store, clock, lambda: None)._waiting(recall.due_at)

    with pytest.raises(recall_due.ClockSetBack):
        await world.store.transact(due.fire, recall.due_at, 10, compose, {}, wait)

    assert await world.store.transact(queue.waiting, session.id) == []
    assert (await newest(world, session)).status is RecallStatus.PENDING
    assert len(world.told) == told
    assert await fire(world, session, recall.due_at)


@pytest.mark.parametrize("count", [1, recall_due.CROWD + 1])
async def test_what_is_written_ahead_fires_once_each_and_never_before_its_time(
    world: World, count: int
) -> None:
    clock = SettableClock()
    crowd = [await world.session() for _ in range(count)]
    made = [await scheduled(world, session) for session in crowd]
    at = made[0].due_at
    told_at: list[datetime] = []
    world.store.on_events = lambda events: told_at.append(clock.now())

    clock.set(at - timedelta(seconds=0.3))
    kind = recall_due.RecallsDue(world.store, clock, lambda: None)
    await kind.make_ready(at)
    await asyncio.sleep((at - clock.now()).total_seconds())
    while await earliest(world.store, recalls) is not None:
        await kind.fire()

    assert min(told_at) >= at
    assert await kind.fire() == 0
    for session in crowd:
        assert len(await world.store.transact(queue.waiting, session.id)) == 1


async def test_what_was_to_be_written_ahead_fires_at_once_if_the_clock_is_set_forward(
    world: World,
) -> None:
    clock = SettableClock()
    crowd = [await world.session() for _ in range(recall_due.CROWD)]
    made = [await scheduled(world, session) for session in crowd]
    at = made[0].due_at
    clock.set(at - 60 * MINUTE)
    kind = recall_due.RecallsDue(world.store, clock, lambda: None)
    await kind.make_ready(at)

    clock.set(at)

    assert await kind.fire() == len(crowd)
    assert not kind._planned


class SettableClock(SystemClock):
    _offset = timedelta(0)

    def set(self, moment: datetime) -> None:
        self._offset = moment - super().now()

    def now(self) -> datetime:
        return super().now() + self._offset


def _must_not_compose(recall: Recall, now: datetime, missed: int) -> NewInput:
    raise AssertionError("it was made ahead")


async def test_only_the_newest_finished_recalls_of_a_session_are_kept(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recalls, "KEPT_FINISHED", 3)
    session, other = await world.session(), await world.session()
    kept_elsewhere = await scheduled(world, other)
    await world.store.transact(recalls.cancel, other.id, world.later())
    made = []
    for _ in range(6):
        world.later()
        made.append((await scheduled(world, session)).id)
        await world.store.transact(recalls.cancel, session.id, world.later())
    world.later()
    pending = await scheduled(world, session)

    listed = await world.store.transact(recalls.listing, session.id)

    assert [each.id for each in listed] == [pending.id, *reversed(made[-3:])]
    assert [each.id for each in await world.store.transact(recalls.listing, other.id)] == [
        kept_elsewhere.id
    ]
