from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from navi.base.errors import PermissionRefused, SessionStopped
from navi.live.agents.driver import Driver, TurnRequest
from navi.live.model.event import TextDelta, TurnEvent
from navi.live.model.input import DeliveryMode
from navi.live.model.session import SessionState
from tests.live_world import LOCAL, LONG, Start, World
from tests.waiting import eventually


async def test_an_idle_session_takes_an_input_at_once(world: World) -> None:
    session = await world.session()

    admission = await world.say(session, "[[think: hm]] [[say: hello]]")

    assert admission.delivered
    assert await world.outcomes(session, 1) == ["ok"]
    _, answer = await world.messages(session)
    assert (answer.thinking, answer.content) == ("hm", "hello")


async def test_a_busy_session_lets_inputs_wait_and_answers_them_in_order(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    second = await world.say(session, "two")
    third = await world.say(session, "three")

    assert [(second.delivered, second.position), (third.delivered, third.position)] == [
        (False, 0),
        (False, 1),
    ]
    await world.navi.sessions.stop(LOCAL, session.id)
    assert await world.outcomes(session, 3) == ["stopped", "ok", "ok"]
    answers = [m.content for m in await world.messages(session) if m.role == "assistant"]
    assert answers == ["(stopped)", "ok: two", "ok: three"]


async def test_the_frames_of_a_turn_come_in_order_and_end_with_the_sync(world: World) -> None:
    session = await world.session()
    await world.say(session, "[[think: a]] [[bash: echo hi]] [[say: b]]")

    frames = await world.ended(session)

    assert [frame["type"] for frame in frames] == [
        "session_update",
        "input_queued",
        "session_update",
        "input_delivered",
        "stream_start",
        "thinking_delta",
        "tool_started",
        "tool_call",
        "stream_delta",
        "stream_end",
        "session_sync",
    ]
    assert [frame["seq"] for frame in frames] == list(range(1, 12))
    assert frames[2]["session"]["title"] == "[[think: a]] [[bash: echo hi]] [[say: b]]"
    assert frames[4]["origin"] == "user"
    assert frames[7]["result"].strip() == "hi"
    assert frames[-1]["session"]["state"] == "idle"


async def test_stop_ends_the_turn_and_the_session_is_usable(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.started(session)

    assert await world.navi.sessions.stop(LOCAL, session.id) is True

    assert (await world.messages(session))[-1].content == "(stopped)"
    await world.say(session, "again")
    assert await world.outcomes(session, 2) == ["stopped", "ok"]


async def test_stop_kills_the_command_that_the_agent_runs(world: World) -> None:
    session = await world.session()
    alive = world.folder / "alive"
    await world.say(session, f"[[bash: touch {alive}; sleep 600; touch {alive}.late]]")
    await eventually(alive.exists, "the command has begun")

    await world.navi.sessions.stop(LOCAL, session.id)

    (call,) = (await world.messages(session))[1].tool_calls
    assert call.is_error
    assert not (world.folder / "alive.late").exists()


async def test_stop_without_a_turn_says_so(world: World) -> None:
    session = await world.session()
    assert await world.navi.sessions.stop(LOCAL, session.id) is False


async def test_an_urgent_input_interrupts_and_goes_first(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.started(session)
    await world.say(session, "later")

    await world.say(session, "now", delivery_mode=DeliveryMode.URGENT)

    assert await world.outcomes(session, 3) == ["stopped", "ok", "ok"]
    answers = [m.content for m in await world.messages(session) if m.role == "assistant"]
    assert answers == ["(stopped)", "ok: now", "ok: later"]


async def test_an_important_input_waits_for_the_turn_and_overtakes_the_queue(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.say(session, "later")
    await world.say(session, "soon", delivery_mode=DeliveryMode.IMPORTANT)
    await world.navi.sessions.stop(LOCAL, session.id)

    assert await world.outcomes(session, 3) == ["stopped", "ok", "ok"]
    answers = [m.content for m in await world.messages(session) if m.role == "assistant"]
    assert answers == ["(stopped)", "ok: soon", "ok: later"]


async def test_a_queued_input_made_urgent_interrupts(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.started(session)
    waiting = await world.say(session, "now")

    await world.navi.sessions.edit_input(
        LOCAL, session.id, waiting.input_id, {"delivery_mode": DeliveryMode.URGENT}
    )

    assert await world.outcomes(session, 2) == ["stopped", "ok"]


async def test_a_failing_turn_ends_with_its_error_and_the_next_one_runs(world: World) -> None:
    session = await world.session()
    await world.say(session, "[[say: I try.]] [[fail: no more tokens]]")
    await world.say(session, "next")

    frames = await world.ended(session, 2)

    ends = [frame for frame in frames if frame["type"] == "stream_end"]
    assert [(end["outcome"], end["error"]) for end in ends] == [
        ("error", "no more tokens"),
        ("ok", None),
    ]
    answer = (await world.messages(session))[1]
    assert (answer.content, answer.metadata["error"]) == ("I try.", "no more tokens")


async def test_a_turn_at_a_usage_limit_says_so_and_the_next_one_runs(world: World) -> None:
    session = await world.session()
    await world.say(session, "[[say: I try.]] [[limit: 60]]")
    await world.say(session, "next")

    frames = await world.ended(session, 2)

    ends = [frame for frame in frames if frame["type"] == "stream_end"]
    assert [end["outcome"] for end in ends] == ["limit", "ok"]
    assert "usage limit" in ends[0]["error"]
    answer = (await world.messages(session))[1]
    assert (answer.content, answer.metadata["outcome"]) == ("I try.", "limit")


class Refused(Driver):
    """An agent that answers, but was denied a permission."""

    async def turn(self, request: TurnRequest) -> AsyncGenerator[TurnEvent, None]:
        yield TextDelta("I could not build it.")
        raise PermissionRefused(["Bash(make)"], hint="allow it")


async def test_a_turn_that_was_refused_a_call_keeps_its_answer_and_shows_the_call(
    start: Start,
) -> None:
    async with start(drivers={"refused": Refused()}) as world:
        session = await world.session(driver="refused")
        await world.say(session, "build it")

        frames = await world.ended(session)

        assert (frames[-2]["outcome"], frames[-2]["error"]) == (
            "denied",
            "refused: Bash(make); allow it",
        )
        answer = (await world.messages(session))[-1]
        assert (answer.content, answer.metadata["outcome"]) == ("I could not build it.", "denied")


async def test_an_endless_agent_ends_at_the_iteration_limit(start: Start) -> None:
    async with start(budgets={"repeated_calls": 0}) as world:
        session = await world.session()
        await world.say(session, "[[loop]]")

        frames = await world.ended(session)

        assert frames[-2]["outcome"] == "max_iterations"
        assert len([frame for frame in frames if frame["type"] == "tool_call"]) == 25
        assert "25 steps" in (await world.messages(session))[-1].content


async def test_a_process_runs_only_so_many_turns_at_once(start: Start) -> None:
    async with start(max_concurrent=2) as world:
        first, second, third = [await world.session() for _ in range(3)]
        await world.say(first, LONG)
        await world.say(second, LONG)
        admission = await world.say(third, "third")
        assert not admission.delivered

        await world.navi.sessions.stop(LOCAL, first.id)

        assert await world.outcomes(third, 1) == ["ok"]
        assert (await world.navi.sessions.get(LOCAL, second.id)).state is SessionState.RUNNING


async def test_the_history_of_a_session_reaches_its_next_turn(world: World) -> None:
    session = await world.session()
    await world.say(session, "first")
    await world.say(session, "second")

    await world.ended(session, 2)

    assert [m.content for m in await world.messages(session)] == [
        "first",
        "ok: first",
        "second",
        "ok: second",
    ]


async def test_a_killed_session_ends_its_turn_and_takes_nothing_more(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.started(session)

    await world.navi.sessions.kill(LOCAL, session.id)

    assert (await world.navi.sessions.get(LOCAL, session.id)).state is SessionState.STOPPED
    with pytest.raises(SessionStopped):
        await world.say(session, "hello?")


async def test_clear_ends_the_turn_and_gives_a_new_context(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.started(session)
    await world.say(session, "next")

    cleared = await world.navi.sessions.clear(LOCAL, session.id)

    assert cleared.context_from_idx == 2
    assert await world.outcomes(session, 2) == ["stopped", "ok"]


async def test_a_deleted_session_ends_its_turn_first(world: World) -> None:
    session = await world.session()
    await world.say(session, LONG)
    await world.started(session)

    await world.navi.sessions.remove(LOCAL, session.id)

    assert await world.navi.sessions.list_sessions(LOCAL) == []


async def test_what_no_database_can_hold_is_replaced_not_lost(world: World) -> None:
    session = await world.session()
    await world.say(session, r"[[bash: printf 'a\0b']] [[say: done]]")

    await world.ended(session)

    call = (await world.messages(session))[1].tool_calls[0]
    assert call.result is not None
    assert call.result.startswith("a\ufffdb")
