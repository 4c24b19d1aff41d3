from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from navi.live.model.event import TextDelta, Usage
from navi.live.model.message import drafts_of
from navi.live.model.scheduling.recall import (
    Recall,
    RecallAlreadyPending,
    RecallStatus,
    Scheduler,
)
from navi.live.model.session import Session
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome
from navi.live.model.usage_limit import CONTINUE, RetryPolicy
from navi.live.store import input_queue, lanes, origins, sessions, turns
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.scheduling import recalls
from tests.integration.store.recall_steps import MINUTE, a_recall
from tests.store_world import World, claim, earliest

SECOND = timedelta(seconds=1)
DUE = DueRecalls()


async def scheduled(world: World, session: Session, interval: int | None = None) -> Recall:
    return await world.store.transact(recalls.schedule, a_recall(world, session, interval))


async def claimed(world: World, session: Session, now: datetime) -> bool:
    """Whether it admitted an input of the session."""
    world.now = now
    before = await world.store.transact(input_queue.list_inputs, session.id)
    await claim(world.store, DUE, now)
    return len(await world.store.transact(input_queue.list_inputs, session.id)) > len(before)


async def end(
    world: World,
    begun: turns.TurnStart | None,
    ending: Ending,
    happened: Sequence[TextDelta] = (TextDelta("answer"),),
) -> None:
    assert begun is not None
    drafts = drafts_of(happened)
    await world.store.transact(
        turns.finish, begun.turn, 0, happened, drafts, ending, Usage(), world.later()
    )


async def newest(world: World, session: Session) -> Recall:
    return (await world.store.transact(recalls.list_recalls, session.id))[0]


async def test_a_recall_is_due_at_its_time_and_fires_once(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session)

    assert await earliest(world.store, DUE) == recall.due_at
    assert not await claimed(world, session, world.now)
    assert await claimed(world, session, recall.due_at)
    assert not await claimed(world, session, recall.due_at)

    (waiting,) = await world.store.transact(input_queue.list_inputs, session.id)
    assert (waiting.origin, waiting.text) == ("recall", "Read build.log")
    assert waiting.not_before == recall.due_at
    assert waiting.prompt is None
    assert await earliest(world.store, DUE) is None


async def test_after_ten_missed_beats_a_recall_fires_once_keeps_its_beat_and_says_so(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    late = recall.due_at + 10 * MINUTE + timedelta(seconds=5)

    assert await claimed(world, session, late)
    begun = await world.begin(session)
    assert begun is not None
    assert "Earlier occurrences that were missed: 10" in (begun.turn.input.prompt or "")
    await end(world, begun, Ending(Outcome.OK))

    after = await newest(world, session)
    assert (after.status, after.missed_count) == (RecallStatus.PENDING, 10)
    assert after.due_at == recall.due_at + 11 * MINUTE


async def test_beats_that_pass_while_the_turn_of_an_earlier_one_runs_count_as_missed(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    await claimed(world, session, recall.due_at + 2 * MINUTE)
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
    await claimed(world, session, recall.due_at)
    await world.begin(session)
    (dead,) = await world.store.transact(lanes.running)

    await world.store.transact(turns.close_dead, dead, world.later())
    assert (await newest(world, session)).status is RecallStatus.PENDING

    await end(world, await world.begin(session), Ending(Outcome.OK))
    assert (await newest(world, session)).status is RecallStatus.FIRED


async def test_a_recurring_recall_whose_server_died_before_it_spoke_keeps_its_beats(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    await claimed(world, session, recall.due_at + MINUTE)
    await world.begin(session)
    (dead,) = await world.store.transact(lanes.running)
    await world.store.transact(turns.close_dead, dead, world.later())
    waiting = await newest(world, session)
    assert (waiting.due_at, waiting.missed_count) == (recall.due_at, 0)

    world.now = recall.due_at + 3 * MINUTE
    begun = await world.begin(session)

    after = await newest(world, session)
    assert (after.due_at, after.missed_count) == (recall.due_at + 4 * MINUTE, 3)
    assert begun is not None
    assert "Earlier occurrences that were missed: 3" in (begun.turn.input.prompt or "")


async def test_a_beat_skipped_during_a_turn_that_is_given_back_stays_skipped(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    await claimed(world, session, recall.due_at)
    await world.begin(session)
    await world.store.transact(recalls.skip, session.id, world.later())
    (dead,) = await world.store.transact(lanes.running)
    await world.store.transact(turns.close_dead, dead, world.later())

    await end(world, await world.begin(session), Ending(Outcome.OK))

    after = await newest(world, session)
    assert (after.due_at, after.input_id) == (recall.due_at + 2 * MINUTE, None)


async def test_a_beat_cancelled_after_its_turn_was_given_back_is_withdrawn(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    await claimed(world, session, recall.due_at)
    await world.begin(session)
    (dead,) = await world.store.transact(lanes.running)
    await world.store.transact(turns.close_dead, dead, world.later())

    cancelled = await world.store.transact(recalls.cancel, session.id, world.later())

    assert (cancelled.due_at, cancelled.missed_count) == (recall.due_at, 0)
    assert await world.begin(session) is None


async def test_a_beat_removed_from_the_queue_ahead_of_its_time_does_not_come_back(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    await claim(world.store, DUE, recall.due_at - SECOND, ahead=SECOND)
    (waiting,) = await world.store.transact(input_queue.list_inputs, session.id)

    await world.store.transact(origins.withdraw, session.id, waiting.id, recall.due_at - SECOND)

    after = await newest(world, session)
    assert (after.due_at, after.input_id) == (recall.due_at + MINUTE, None)
    assert (await claim(world.store, DUE, recall.due_at)).count == 0


async def test_a_recall_whose_server_died_while_it_spoke_ends_visibly_and_not_twice(
    world: World,
) -> None:
    for interval, status in ((None, RecallStatus.CANCELLED), (60, RecallStatus.PENDING)):
        session = await world.session()
        recall = await scheduled(world, session, interval)
        await claimed(world, session, recall.due_at)
        begun = await world.begin(session)
        assert begun is not None
        await world.store.transact(turns.extend, begun.turn, 0, [TextDelta("I")], world.later())
        (dead,) = await world.store.transact(lanes.running)

        await world.store.transact(turns.close_dead, dead, world.later())

        after = await newest(world, session)
        assert (after.status, after.outcome, after.error) == (status, "error", SERVER_STOPPED)
        assert await world.store.transact(input_queue.list_inputs, session.id) == []


async def test_a_due_recall_of_a_busy_session_is_admitted_once_and_shows_a_later_time(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    begun = await world.begun(session)

    assert await claimed(world, session, recall.due_at)
    waiting = await newest(world, session)
    assert (waiting.status, waiting.trigger_at) == (RecallStatus.PENDING, recall.due_at + MINUTE)
    assert not await claimed(world, session, recall.due_at + 10 * MINUTE)

    await end(world, begun, Ending(Outcome.OK))
    woken = await world.begin(session)
    assert woken is not None
    assert woken.turn.origin == "recall"
    assert (await newest(world, session)).trigger_at == recall.due_at


async def test_a_due_recall_keeps_its_place_among_inputs_that_came_before_and_after_it(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    begun = await world.begun(session, "long work")
    await world.admit(session, "before")
    world.now = recall.due_at + SECOND
    await world.admit(session, "after")

    await claimed(world, session, recall.due_at + MINUTE)
    await end(world, begun, Ending(Outcome.OK))

    waiting = await world.store.transact(input_queue.list_inputs, session.id)
    assert [each.text for each in waiting] == ["before", "Read build.log", "after"]


async def test_a_recall_claimed_ahead_is_not_delivered_before_its_instant(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    result = await claim(world.store, DUE, recall.due_at - SECOND, ahead=SECOND)
    assert [each.not_before for each in result.inputs] == [recall.due_at]

    world.now = recall.due_at - 2 * SECOND
    assert await world.store.transact(lanes.ready, world.now, 9) == []
    assert await world.begin(session) is None

    world.now = recall.due_at - SECOND
    (ready,) = await world.store.transact(lanes.ready, recall.due_at, 9)
    assert ready.session_id == session.id
    assert await world.begin(session) is not None


async def test_a_recall_that_waits_for_its_turn_is_shown_as_pending_and_can_be_cancelled(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    await claimed(world, session, recall.due_at)
    with pytest.raises(RecallAlreadyPending):
        await scheduled(world, session)

    cancelled = await world.store.transact(recalls.cancel, session.id, world.later())

    assert (cancelled.id, cancelled.outcome) == (recall.id, "cancelled")
    assert await world.store.transact(input_queue.list_inputs, session.id) == []
    assert await world.begin(session) is None


async def test_a_recall_whose_input_is_removed_from_the_queue_says_that_it_never_ran(
    world: World,
) -> None:
    for interval, status in ((None, RecallStatus.CANCELLED), (60, RecallStatus.PENDING)):
        session = await world.session()
        recall = await scheduled(world, session, interval)
        await claimed(world, session, recall.due_at)
        (waiting,) = await world.store.transact(input_queue.list_inputs, session.id)

        await world.store.transact(origins.withdraw, session.id, waiting.id, world.later())

        after = await newest(world, session)
        assert (after.status, after.input_id) == (status, None if interval else waiting.id)
        assert after.error == (None if interval else origins.REMOVED_BY_PERSON)


async def test_a_skipped_beat_counts_from_the_planned_one(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=600)
    await world.begun(session)
    await claimed(world, session, recall.due_at)

    skipped = await world.store.transact(recalls.skip, session.id, world.later())

    assert skipped.due_at == skipped.trigger_at == recall.due_at + 10 * MINUTE
    assert skipped.input_id is None
    assert await world.store.transact(input_queue.list_inputs, session.id) == []


async def test_a_recurring_recall_that_waited_for_its_session_moves_on_to_its_next_beat(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=600)
    begun = await world.begun(session)
    await claimed(world, session, recall.due_at)
    assert (await newest(world, session)).trigger_at == recall.due_at + MINUTE
    await end(world, begun, Ending(Outcome.OK))

    await world.begin(session)

    after = await newest(world, session)
    assert (after.due_at, after.trigger_at) == (recall.due_at + 10 * MINUTE,) * 2


async def test_a_recurring_recall_stays_pending_while_its_beat_runs(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=60)
    await claimed(world, session, recall.due_at)
    begun = await world.begin(session)

    running = await world.store.transact(recalls.pending, session.id)
    assert running is not None
    assert running.due_at == recall.due_at + MINUTE
    assert not await claimed(world, session, recall.due_at + 5 * MINUTE)
    person = replace(a_recall(world, session), scheduled_by=Scheduler.PERSON)
    with pytest.raises(RecallAlreadyPending):
        await world.store.transact(recalls.schedule, person)

    await end(world, begun, Ending(Outcome.OK))
    after = await newest(world, session)
    assert (after.id, after.status, after.outcome) == (recall.id, RecallStatus.PENDING, "ok")


async def test_a_recurring_recall_makes_way_for_one_that_its_own_turn_scheduled(
    world: World,
) -> None:
    session = await world.session()
    beat = await scheduled(world, session, interval=60)
    await claimed(world, session, beat.due_at)
    begun = await world.begin(session)
    newer = await scheduled(world, session)

    await end(world, begun, Ending(Outcome.OK))

    kept = {each.id: each for each in await world.store.transact(recalls.list_recalls, session.id)}
    assert kept[newer.id] == newer
    assert kept[beat.id].status is RecallStatus.FIRED
    assert (kept[beat.id].outcome, kept[beat.id].error) == ("replaced", None)


async def test_a_cancelled_recall_that_runs_has_no_further_beats(world: World) -> None:
    session = await world.session()
    beat = await scheduled(world, session, interval=60)
    await claimed(world, session, beat.due_at)
    begun = await world.begin(session)

    await world.store.transact(recalls.cancel, session.id, world.later())
    await end(world, begun, Ending(Outcome.OK))

    assert (await newest(world, session)).status is RecallStatus.CANCELLED


async def test_many_recalls_due_at_once_fire_once_each_although_several_fire_them(
    world: World,
) -> None:
    everybody = [await world.session() for _ in range(60)]
    for session in everybody:
        await scheduled(world, session)
    moment = world.now + MINUTE

    results = await asyncio.gather(*(claim(world.store, DUE, moment, limit=16) for _ in range(8)))

    assert sum(result.count for result in results) == 60
    for session in everybody:
        assert len(await world.store.transact(input_queue.list_inputs, session.id)) == 1
        types = [each.type for each in world.published if each.session_id == session.id]
        assert types[-2:] == ["recall_update", "input_queued"]


async def test_among_many_due_recalls_that_of_an_ended_session_is_not_claimed(
    world: World,
) -> None:
    free, busy, ended = [await world.session() for _ in range(3)]
    for session in (free, busy, ended):
        await scheduled(world, session)
    await world.begun(busy)
    await world.store.transact(sessions.kill, ended.id, world.later())
    moment = world.now + 2 * MINUTE

    assert (await claim(world.store, DUE, moment)).count == 2

    assert (await newest(world, free)).input_id is not None
    assert (await newest(world, busy)).input_id is not None
    assert (await newest(world, ended)).status is RecallStatus.CANCELLED
    assert (await claim(world.store, DUE, moment)).count == 0


async def test_a_recurring_recall_whose_session_was_killed_during_its_turn_has_no_next_beat(
    world: World,
) -> None:
    session = await world.session()
    beat = await scheduled(world, session, interval=60)
    await claimed(world, session, beat.due_at)
    begun = await world.begin(session)

    await world.store.transact(sessions.kill, session.id, world.later())
    await end(world, begun, Ending(Outcome.STOPPED))

    assert (await newest(world, session)).status is RecallStatus.CANCELLED
    assert (await claim(world.store, DUE, world.now + 60 * MINUTE)).count == 0


LIMIT = "You've hit your limit"
POLICY = RetryPolicy()


async def test_a_recall_that_met_a_limit_before_it_spoke_waits_for_the_reset(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    await claimed(world, session, recall.due_at)
    resets_at = recall.due_at + 90 * MINUTE
    begun = await world.begin(session)
    await end(world, begun, Ending(Outcome.LIMIT, LIMIT, resets_at=resets_at), [])

    waiting = await newest(world, session)
    assert (waiting.status, waiting.outcome, waiting.error) == (
        RecallStatus.PENDING,
        "limit",
        LIMIT,
    )
    retry_at = resets_at + POLICY.margin
    assert (waiting.trigger_at, waiting.due_at) == (retry_at, recall.due_at)
    assert not await claimed(world, session, retry_at)
    world.now = retry_at - 2 * SECOND
    assert await world.begin(session) is None

    world.now = retry_at
    begun = await world.begin(session)
    assert begun is not None
    assert "90 minutes late" in (begun.turn.input.prompt or "")
    await end(world, begun, Ending(Outcome.OK))
    assert (await newest(world, session)).status is RecallStatus.FIRED


async def test_a_recall_that_met_a_limit_in_mid_turn_continues_and_has_then_fired(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    await claimed(world, session, recall.due_at)
    for _ in range(3):
        begun = await world.begin(session)
        assert begun is not None
        await end(world, begun, Ending(Outcome.LIMIT, LIMIT))

        waiting = await newest(world, session)
        assert (waiting.id, waiting.status) == (recall.id, RecallStatus.PENDING)
        assert not await claimed(world, session, waiting.trigger_at)
        world.now = waiting.trigger_at

    begun = await world.begin(session)
    assert begun is not None
    assert (begun.turn.origin, begun.turn.input.text) == ("recall", CONTINUE)
    await end(world, begun, Ending(Outcome.OK))
    after = await newest(world, session)
    assert (after.status, after.outcome) == (RecallStatus.FIRED, "ok")


async def test_a_recall_that_waits_for_a_limit_can_be_cancelled(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    await claimed(world, session, recall.due_at)
    await end(world, await world.begin(session), Ending(Outcome.LIMIT, LIMIT))

    await world.store.transact(recalls.cancel, session.id, world.later())

    assert await world.store.transact(input_queue.list_inputs, session.id) == []
    assert (await newest(world, session)).status is RecallStatus.CANCELLED


@pytest.mark.parametrize("has_spoken", [False, True])
async def test_a_recurring_recall_that_met_a_limit_misses_the_beats_until_the_reset(
    world: World, has_spoken: bool
) -> None:
    session = await world.session()
    recall = await scheduled(world, session, interval=600)
    await claimed(world, session, recall.due_at)
    resets_at = recall.due_at + 60 * MINUTE
    happened = [TextDelta("half")] if has_spoken else []
    begun = await world.begin(session)
    await end(world, begun, Ending(Outcome.LIMIT, LIMIT, resets_at=resets_at), happened)

    retry_at = resets_at + POLICY.margin
    waiting = await newest(world, session)
    assert (waiting.status, waiting.outcome) == (RecallStatus.PENDING, "limit")
    assert waiting.trigger_at == retry_at
    assert not await claimed(world, session, retry_at)

    await end(world, await world.begin(session), Ending(Outcome.OK))
    after = await newest(world, session)
    assert (after.status, after.outcome) == (RecallStatus.PENDING, "ok")
    assert after.due_at == after.trigger_at == recall.due_at + 70 * MINUTE
    assert after.missed_count == 6


async def test_a_recall_that_met_a_limit_makes_way_for_one_that_its_turn_scheduled(
    world: World,
) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    await claimed(world, session, recall.due_at)
    begun = await world.begin(session)
    successor = await scheduled(world, session)

    await end(world, begun, Ending(Outcome.LIMIT, "limited"))

    recorded = {
        each.id: each for each in await world.store.transact(recalls.list_recalls, session.id)
    }
    assert recorded[successor.id] == successor
    assert (recorded[recall.id].status, recorded[recall.id].outcome) == ("fired", "limit")


async def test_a_recall_whose_turn_was_refused_something_has_fired(world: World) -> None:
    session = await world.session()
    recall = await scheduled(world, session)
    await claimed(world, session, recall.due_at)
    await end(world, await world.begin(session), Ending(Outcome.DENIED, "refused: Bash(ls)"))

    after = await newest(world, session)
    assert (after.status, after.outcome, after.error) == ("fired", "denied", "refused: Bash(ls)")


async def test_only_the_newest_finished_recalls_of_a_session_are_kept(world: World) -> None:
    async def scheduled(world: World, session: Session) -> Recall:
        return await world.store.transact(recalls.schedule, a_recall(world, session), 3)

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

    listed = await world.store.transact(recalls.list_recalls, session.id)

    assert [each.id for each in listed] == [pending.id, *reversed(made[-3:])]
    assert [each.id for each in await world.store.transact(recalls.list_recalls, other.id)] == [
        kept_elsewhere.id
    ]
