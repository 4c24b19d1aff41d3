from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from navi.base.errors import InvalidInput
from navi.base.time_expressions import describe_moment
from navi.live.model.scheduling.recall import NoPendingRecall, RecallAlreadyPending
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.session import Session
from navi.live.model.usage_limit import RetryPolicy
from navi.live.model.validation import validate
from tests.live_world import LOCAL, LONG, Start, World, counting

TASK = "Read build.log with filesystem. [[say: looked]]"


async def schedule(world: World, session: Session, when: str | None = "1h", **fields: Any) -> Any:
    values = {"call_type": "once", "additional_context_message": TASK, "when": when, **fields}
    if values["call_type"] == "immediate":
        values["when"] = None
    return await world.navi.recalls.schedule(LOCAL, session.id, validate(RecallRequest, values))


async def statuses(world: World, session: Session) -> list[tuple[str, str | None]]:
    recalls = await world.navi.recalls.list_recalls(LOCAL, session.id)
    return [(recall.status.value, recall.outcome) for recall in recalls]


async def test_an_immediate_recall_fires_although_the_loop_was_asleep(world: World) -> None:
    session = await world.session()

    await schedule(world, session, call_type="immediate")

    assert await world.outcomes(session, 1) == ["ok"]
    assert await statuses(world, session) == [("fired", "ok")]
    question, answer = await world.messages(session)
    assert (question.is_recall, question.content, answer.content) == (True, TASK, "looked")
    assert "prompt" not in question.metadata
    assert question.metadata["prompt_ref"]["id"] == "recall.wake"


async def test_a_second_schedule_is_refused_and_the_first_unchanged(world: World) -> None:
    session = await world.session()
    first = await schedule(world, session, "1h")

    with pytest.raises(RecallAlreadyPending):
        await schedule(world, session, "2h")

    assert await world.navi.recalls.pending(LOCAL, session.id) == first.recall


async def test_two_racing_schedules_leave_one(start: Start) -> None:
    async with start() as one, start() as two:
        session = await one.session()
        results = await asyncio.gather(
            *(schedule(world, session, "1h") for world in (one, two) for _ in range(5)),
            return_exceptions=True,
        )
        assert len([each for each in results if not isinstance(each, Exception)]) == 1
        assert len(await one.navi.recalls.list_recalls(LOCAL, session.id)) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"call_type": "recurring"},
        {"call_type": "recurring", "interval_seconds": 0},
        {"call_type": "recurring", "interval_seconds": -5},
        {"when": None},
        {"when": "yesterday"},
        {"call_type": "sometimes"},
        {"additional_context_message": "  "},
        {"timezone_offset": "2"},
    ],
)
async def test_a_recall_that_makes_no_sense_is_refused_with_a_hint(
    world: World, fields: dict[str, Any]
) -> None:
    session = await world.session()
    with pytest.raises(InvalidInput) as refusal:
        await schedule(world, session, **{"when": "1h", **fields})
    assert refusal.value.hint
    assert await world.navi.recalls.list_recalls(LOCAL, session.id) == []


async def test_a_due_recall_of_a_busy_session_waits_unseen_and_fires_right_after(
    world: World,
) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.started(session)

    await schedule(world, session, call_type="immediate")
    await world.frames_until(session, counting("recall_update", 2))
    moved = await world.navi.recalls.pending(LOCAL, session.id)
    assert moved.trigger_at - moved.due_at >= timedelta(seconds=59)

    await world.navi.sessions.stop(LOCAL, session.id)
    assert await world.outcomes(session, 2) == ["stopped", "ok"]
    frames = await world.ended(session, 2)
    assert [f["origin"] for f in frames if f["type"] == "stream_start"] == ["user", "recall"]


async def test_the_fourth_recall_waits_for_one_of_the_three(world: World) -> None:
    sessions = [await world.session() for _ in range(4)]
    for session in sessions:
        await schedule(world, session, call_type="immediate", additional_context_message=LONG)
    await world.at_rest()
    # Any three may come first.
    idle = await _not_running(world)
    assert len(idle) == 1
    assert len(await world.navi.sessions.queue(LOCAL, idle[0])) == 1
    # A person's turn does not use their slots.
    other = await world.session()
    assert (await world.say(other, "hello")).delivered

    fourth = next(session for session in sessions if session.id == idle[0])
    running = next(session for session in sessions if session.id != idle[0])
    await world.navi.sessions.stop(LOCAL, running.id)
    await world.started(fourth)


async def _not_running(world: World) -> list[str]:
    """Compare ids only: other fields change when a recall becomes an input."""
    listed = await world.navi.sessions.list_sessions(LOCAL)
    return [session.id for session in listed if session.state != "running"]


async def test_a_message_during_a_recall_is_queued_and_answered_after_it(world: World) -> None:
    session = await world.session()
    await schedule(world, session, call_type="immediate", additional_context_message=LONG)
    await world.started(session)

    assert not (await world.say(session, "hello")).delivered
    await world.navi.sessions.stop(LOCAL, session.id)

    assert await world.outcomes(session, 2) == ["stopped", "ok"]
    assert [m.content for m in await world.messages(session)][1::2] == ["(stopped)", "ok: hello"]


async def test_a_recurring_recall_keeps_its_times_and_can_be_skipped_and_cancelled(
    world: World,
) -> None:
    session = await world.session()
    made = await schedule(world, session, "0s", call_type="recurring", interval_seconds=3600)
    await world.ended(session)
    beat = await world.navi.recalls.pending(LOCAL, session.id)
    assert beat.due_at == made.recall.due_at + timedelta(hours=1)
    assert (beat.outcome, beat.missed_count) == ("ok", 0)

    skipped = await world.navi.recalls.skip(LOCAL, session.id)
    assert skipped.trigger_at == made.recall.due_at + timedelta(hours=2)

    await world.navi.recalls.cancel(LOCAL, session.id)
    assert await statuses(world, session) == [("cancelled", "cancelled")]
    with pytest.raises(NoPendingRecall):
        await world.navi.recalls.pending(LOCAL, session.id)
    await schedule(world, session, "1h")


async def test_a_failed_recall_is_cancelled_with_its_error_and_says_so(world: World) -> None:
    session = await world.session()
    failing = "[[fail: no such file build.log]]"
    await schedule(world, session, call_type="immediate", additional_context_message=failing)
    await world.ended(session)

    (recall,) = await world.navi.recalls.list_recalls(LOCAL, session.id)
    assert (recall.status, recall.outcome, recall.error) == (
        "cancelled",
        "error",
        "no such file build.log",
    )
    assert (await world.messages(session))[-1].content == "(failed: no such file build.log)"


async def test_the_iteration_limit_counts_as_success(world: World) -> None:
    session = await world.session()
    await schedule(world, session, call_type="immediate", additional_context_message="[[loop]]")
    await world.ended(session)
    assert await statuses(world, session) == [("fired", "max_iterations")]


async def test_a_recall_schedules_the_next_one_in_its_own_turn(world: World) -> None:
    session = await world.session()
    chained = (
        '[[tool: schedule_recall | {"call_type": "once", "when": "1h", '
        '"additional_context_message": "Read b.log"}]] [[say: chained]]'
    )
    await schedule(world, session, call_type="immediate", additional_context_message=chained)
    await world.ended(session)
    assert set(await statuses(world, session)) == {("pending", None), ("fired", "ok")}


async def test_an_agent_schedules_lists_and_cancels_by_its_tools(world: World) -> None:
    session = await world.session()
    await world.say(
        session,
        '[[tool: schedule_recall | {"call_type": "recurring", "when": "30m", "interval_seconds": '
        '900, "additional_context_message": "Tell the user hello"}]] '
        '[[tool: manage_recall | {"action": "list"}]] [[tool: manage_recall | {"action": '
        '"cancel"}]] [[tool: manage_recall | {"action": "cancel"}]] [[say: done]]',
    )
    await world.ended(session)
    results = [c for m in await world.messages(session) for c in m.tool_calls]
    scheduled, listed, cancelled, refused = results
    assert "in 30 min" in (scheduled.result or "")
    assert "too vague to act on" in (scheduled.result or "")
    assert "pending recurring, in 30 min" in (listed.result or "")
    assert not cancelled.is_error
    assert refused.is_error


async def test_an_agent_sees_its_recalls_in_the_zone_that_it_names(world: World) -> None:
    session = await world.session()
    made = await schedule(
        world,
        session,
        "2h",
        call_type="recurring",
        interval_seconds=900,
        internal_comment="nightly build",
    )
    await world.say(session, '[[tool: manage_recall | {"action": "list", "tz": "Asia/Tokyo"}]]')
    await world.ended(session)
    (call,) = [c for m in await world.messages(session) for c in m.tool_calls]
    in_tokyo = describe_moment(made.recall.trigger_at, ZoneInfo("Asia/Tokyo"))
    assert call.result is not None
    assert call.result.startswith(f"{made.recall.id} pending recurring, in ")
    assert f", {in_tokyo}, every 15 min (nightly build): {TASK}" in call.result


async def test_a_recall_that_came_due_while_the_server_was_down_fires_once(start: Start) -> None:
    async with start() as world:
        session = await world.session()
        await schedule(world, session, "1h")
    world.clock.move(hours=2)
    for _ in range(2):
        async with start() as world:
            assert await world.outcomes(session, 1) == ["ok"]
            assert await statuses(world, session) == [("fired", "ok")]


async def test_a_recall_of_a_killed_session_is_cancelled(world: World) -> None:
    session = await world.session()
    await schedule(world, session, "1h")
    await world.navi.sessions.kill(LOCAL, session.id)
    assert (await statuses(world, session))[0][0] == "cancelled"


async def test_sessions_that_will_wake_can_be_listed(world: World) -> None:
    idle, waking = await world.session(), await world.session()
    await schedule(world, waking, "1h")
    listed = await world.navi.sessions.list_sessions(LOCAL, with_recall=True)
    assert [session.id for session in listed] == [waking.id]
    assert listed[0].pending is not None
    assert idle.id not in [session.id for session in listed]


async def test_a_recall_scheduled_through_one_server_wakes_the_other(start: Start) -> None:
    async with start(max_concurrent=1) as one, start() as two:
        session = await one.session()
        await schedule(two, session, call_type="immediate")
        assert await one.outcomes(session, 1) == ["ok"]


async def test_a_recall_that_met_a_usage_limit_stays_pending_until_it_resets(start: Start) -> None:
    async with start() as world:
        session = await world.session()
        task = "Read build.log with filesystem. [[limit: 5400]]"
        await schedule(world, session, "now", additional_context_message=task)
        assert await world.outcomes(session, 1) == ["limit"]

        assert await statuses(world, session) == [("pending", "limit")]
        pending = await world.navi.recalls.pending(LOCAL, session.id)
        margin = RetryPolicy().margin
        assert pending.trigger_at - world.clock.now() == timedelta(minutes=90) + margin
    world.clock.move(hours=2)
    async with start() as world:
        assert await world.outcomes(session, 2) == ["limit", "limit"]
        again = await world.navi.recalls.pending(LOCAL, session.id)
        assert (again.id, again.due_at) == (pending.id, pending.due_at)
