from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from navi.base.errors import FenceLost, SessionBusy
from navi.live.model.event import (
    HistoryCompacted,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    Usage,
)
from navi.live.model.input import DeliveryMode, NewInput
from navi.live.model.message import MessageRole, drafts_of
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome, RunningTurn, StopReason, Turn
from navi.live.store import events, input_queue, lanes, sessions, transcript, turns
from tests.store_world import World

OK = Ending(Outcome.OK)


async def finish(world: World, turn: Turn, text: str = "answer", counted: int = 0) -> None:
    happened = [TextDelta(text)]
    await world.store.transact(
        turns.finish,
        turn,
        counted,
        happened,
        drafts_of(happened),
        OK,
        Usage(input_tokens=3, output_tokens=2),
        world.later(),
    )


async def running(world: World, session: Session) -> RunningTurn:
    (lane,) = await world.store.transact(lanes.running, [session.id])
    return lane


async def types_of(world: World, session: Session) -> list[str]:
    return [e.type for e in await world.store.transact(events.read_session, session.id, 0, 1000)]


async def contents_of(world: World, session: Session) -> list[str]:
    return [m.content for m in await world.store.transact(transcript.read, session.id)]


async def test_a_turn_runs_from_its_input_to_its_messages(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session, "question")

    assert (await world.store.transact(sessions.get, session.id)).state is SessionState.RUNNING
    await finish(world, begun.turn)

    assert (await world.store.transact(sessions.get, session.id)).state is SessionState.IDLE
    assert await contents_of(world, session) == ["question", "answer"]
    assert await types_of(world, session) == [
        "session_update",
        "input_queued",
        "input_delivered",
        "stream_start",
        "stream_delta",
        "stream_end",
        "session_sync",
    ]
    assert await world.store.transact(lanes.running) == []


async def test_turns_never_overlap_in_time_even_if_their_clocks_were_read_too_early(
    world: World,
) -> None:
    session = await world.session()
    early = world.now
    first = await world.begun(session)
    await finish(world, first.turn)
    ended_at = (await world.store.transact(sessions.get, session.id)).updated_at
    late = NewInput(id="late-input", session_id=session.id, text="x")
    await world.store.transact(input_queue.admit, late, early)

    second = await world.store.transact(
        turns.begin, session.id, turns.Claim("turn-2", "me", early + timedelta(seconds=15), early)
    )

    assert second is not None
    assert second.turn.started_at >= ended_at > early


async def test_nothing_begins_without_an_input_or_while_a_turn_runs(world: World) -> None:
    session = await world.session()
    assert await world.begin(session) is None

    await world.begun(session)
    await world.admit(session)
    assert await world.begin(session) is None


async def test_of_many_that_race_for_a_session_one_begins(world: World) -> None:
    session = await world.session()
    await world.admit(session)

    begun = await asyncio.gather(*(world.begin(session, f"owner {n}") for n in range(10)))

    assert len([each for each in begun if each is not None]) == 1


async def test_beginning_again_after_a_lost_answer_is_the_same_turn(world: World) -> None:
    session = await world.session()
    await world.admit(session)
    now = world.later()
    claim = turns.Claim("turn-1", "me", now + timedelta(seconds=15), now)

    first = await world.store.transact(turns.begin, session.id, claim)
    again = await world.store.transact(turns.begin, session.id, claim)

    assert first is not None
    assert again is not None
    assert again.turn.fence == first.turn.fence
    assert (await types_of(world, session)).count("stream_start") == 1


async def test_storing_the_same_events_again_after_a_lost_answer_stores_them_once(
    world: World,
) -> None:
    session = await world.session()
    begun = await world.begun(session)

    for _ in range(2):
        await world.store.transact(turns.extend, begun.turn, 0, [TextDelta("a")], world.later())
    for _ in range(2):
        await finish(world, begun.turn, counted=1)

    types = await types_of(world, session)
    assert types.count("stream_delta") == 2
    assert types.count("stream_end") == 1


async def test_inputs_are_delivered_by_mode_and_then_in_order(world: World) -> None:
    session = await world.session()
    await world.admit(session, "one")
    await world.admit(session, "two")
    await world.admit(session, "now", delivery_mode=DeliveryMode.URGENT)
    await world.admit(session, "soon", delivery_mode=DeliveryMode.IMPORTANT)
    order = []
    while (begun := await world.begin(session)) is not None:
        order.append(begun.turn.input.text)
        await finish(world, begun.turn)

    assert order == ["now", "soon", "one", "two"]


async def test_the_agent_sees_what_was_said_before_but_not_its_own_input(world: World) -> None:
    session = await world.session()
    await finish(world, (await world.begun(session, "first")).turn, "answer 1")

    begun = await world.begun(session, "second")

    assert [message.content for message in begun.history] == ["first", "answer 1"]


async def test_after_clear_the_agent_starts_afresh_and_the_transcript_stays(world: World) -> None:
    session = await world.session()
    await finish(world, (await world.begun(session, "old")).turn)
    await world.store.transact(sessions.clear, session.id, world.later())

    begun = await world.begun(session, "new")

    assert begun.history == []
    assert await contents_of(world, session) == ["old", "answer", "new"]


async def test_clear_during_a_turn_takes_effect_at_its_end(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session, "old")
    await world.admit(session, "waits")

    assert await world.store.transact(sessions.clear, session.id, world.later())
    assert (await running(world, session)).stop_reason is StopReason.CLEARED
    await finish(world, begun.turn)

    following = await world.begin(session)
    assert following is not None
    assert (following.turn.input.text, following.history) == ("waits", [])


async def test_clear_during_a_turn_whose_server_dies_takes_effect_too(world: World) -> None:
    session = await world.session()
    await finish(world, (await world.begun(session, "old")).turn)
    await world.begun(session, "older")
    await world.store.transact(sessions.clear, session.id, world.later())

    await world.store.transact(turns.close_dead, await running(world, session), world.later())

    assert (await world.begun(session, "new")).history == []


async def test_a_session_cannot_be_deleted_while_a_turn_runs(world: World) -> None:
    session = await world.session()
    await world.begun(session)

    with pytest.raises(SessionBusy):
        await world.store.transact(sessions.remove, session.id, world.later())


async def test_a_summary_stands_in_for_what_it_summarises(world: World) -> None:
    session = await world.session()
    for number in range(3):
        await finish(world, (await world.begun(session, f"question {number}")).turn)
    begun = await world.begun(session, "go on")
    happened: list[TurnEvent] = [
        HistoryCompacted("the story so far", up_to_idx=3),
        TextDelta("answer"),
    ]
    await world.store.transact(
        turns.finish,
        begun.turn,
        0,
        happened,
        drafts_of(happened),
        OK,
        Usage(),
        world.later(),
    )

    seen = (await world.begun(session, "next")).history

    assert [(m.role, m.content) for m in seen] == [
        (MessageRole.SYSTEM, "the story so far"),
        (MessageRole.USER, "question 2"),
        (MessageRole.ASSISTANT, "answer"),
        (MessageRole.USER, "go on"),
        (MessageRole.ASSISTANT, "answer"),
    ]


async def test_a_dead_turn_that_produced_nothing_gives_its_input_back(world: World) -> None:
    session = await world.session()
    await world.begun(session, "question")

    assert await world.store.transact(
        turns.close_dead, await running(world, session), world.later()
    )

    assert await contents_of(world, session) == []
    (waiting,) = await world.store.transact(input_queue.list_inputs, session.id)
    assert waiting.text == "question"
    again = await world.begin(session)
    assert again is not None
    await finish(world, again.turn)
    assert await contents_of(world, session) == ["question", "answer"]


async def test_an_input_given_back_goes_before_those_that_came_later(world: World) -> None:
    session = await world.session()
    await world.begun(session, "first")
    await world.admit(session, "second")

    await world.store.transact(turns.close_dead, await running(world, session), world.later())

    again = await world.begin(session)
    assert again is not None
    assert again.turn.input.text == "first"


async def test_a_dead_turn_that_produced_something_keeps_it_and_is_not_repeated(
    world: World,
) -> None:
    session = await world.session()
    begun = await world.begun(session, "question")
    happened: list[TurnEvent] = [
        TextDelta("I be"),
        ToolStarted("1", "terminal", {"command": "ls"}),
    ]
    await world.store.transact(turns.extend, begun.turn, 0, happened, world.later())

    await world.store.transact(turns.close_dead, await running(world, session), world.later())

    messages = await world.store.transact(transcript.read, session.id)
    assert [message.content for message in messages] == ["question", "I be"]
    assert messages[-1].metadata["error"] == SERVER_STOPPED
    assert messages[-1].tool_calls[0].is_error
    assert await world.store.transact(input_queue.list_inputs, session.id) == []


async def test_a_dead_turn_ends_visibly(world: World) -> None:
    session = await world.session()
    await world.begun(session)
    await world.store.transact(turns.close_dead, await running(world, session), world.later())

    end, sync, queued = world.published[-3:]
    assert (end.type, end.payload["outcome"], end.payload["error"]) == (
        "stream_end",
        "error",
        SERVER_STOPPED,
    )
    assert (sync.type, sync.payload["session"]["state"]) == ("session_sync", "idle")
    assert queued.type == "input_queued"


async def test_a_turn_that_was_to_stop_when_its_server_died_does_not_come_back(
    world: World,
) -> None:
    session = await world.session()
    await world.begun(session)
    await world.store.transact(lanes.request_stop, session.id, StopReason.PERSON)

    await world.store.transact(turns.close_dead, await running(world, session), world.later())

    assert await world.store.transact(input_queue.list_inputs, session.id) == []
    assert (await contents_of(world, session))[-1] == "(stopped)"


async def test_only_one_of_two_that_see_a_dead_turn_closes_it(world: World) -> None:
    session = await world.session()
    await world.begun(session)
    dead = await running(world, session)

    closed = await asyncio.gather(
        *(world.store.transact(turns.close_dead, dead, world.later()) for _ in range(2))
    )

    assert sorted(closed) == [False, True]


async def test_who_lost_the_session_can_write_nothing_more(world: World) -> None:
    session = await world.session()
    zombie = (await world.begun(session, "question")).turn
    await world.store.transact(turns.close_dead, await running(world, session), world.later())
    successor = await world.begin(session, "somebody else")
    assert successor is not None
    before = await types_of(world, session)

    with pytest.raises(FenceLost):
        await world.store.transact(turns.extend, zombie, 0, [TextDelta("late")], world.later())
    with pytest.raises(FenceLost):
        await finish(world, zombie)

    assert await types_of(world, session) == before
    await finish(world, successor.turn)


async def test_a_turn_that_another_server_took_over_is_ended_by_that_server_only(
    world: World,
) -> None:
    session = await world.session()
    zombie = (await world.begun(session, "question")).turn
    now = world.later()
    claim = turns.Claim(zombie.id, "somebody else", now + timedelta(seconds=15), now)
    successor = await world.store.transact(turns.take_over, await running(world, session), claim)
    assert successor is not None

    with pytest.raises(FenceLost):
        await finish(world, zombie, "stale answer")
    await world.store.transact(turns.set_asking, zombie, True, world.later())

    assert (await world.store.transact(sessions.get, session.id)).state is SessionState.RUNNING
    await finish(world, successor.turn, "answer")
    assert (await contents_of(world, session))[-1] == "answer"


async def test_a_lease_is_renewed_only_for_its_owner(world: World) -> None:
    mine, other = await world.session(), await world.session()
    await world.admit(mine)
    await world.admit(other)
    await world.begin(mine, "me")
    await world.begin(other, "you")
    until = world.later(600)

    await world.store.transact(lanes.renew, "me", until)

    assert (await running(world, mine)).lease_until == until
    assert (await running(world, other)).lease_until < until


async def test_sessions_are_ready_when_something_waits_and_nothing_runs(world: World) -> None:
    idle, busy, waiting, longer = [await world.session() for _ in range(4)]
    await world.admit(longer)
    await world.begun(busy)
    await world.admit(busy)
    await world.admit(waiting)

    async def ready(limit: int) -> list[str]:
        waiting = await world.store.transact(lanes.ready, world.now, limit)
        return [each.session_id for each in waiting]

    assert await ready(10) == [longer.id, waiting.id]
    assert await ready(1) == [longer.id]
    assert idle.id not in await ready(10)


async def test_strange_characters_in_a_tools_output_survive(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)
    result = "tab\t umlaut ä kanji 漢字 emoji 🙂 bell \x07"
    happened: list[TurnEvent] = [
        ToolStarted("1", "t", {"a": result}),
        ToolFinished("1", "t", {"a": result}, result),
    ]
    await world.store.transact(
        turns.finish, begun.turn, 0, happened, drafts_of(happened), OK, Usage(), world.later()
    )

    messages = await world.store.transact(transcript.read, session.id)
    assert messages[-1].tool_calls[0].result == result


async def test_a_turn_that_found_nothing_to_do_leaves_no_trace_in_queue_or_transcript(
    world: World,
) -> None:
    session = await world.session()
    await world.begun(session)

    await world.store.transact(turns.drop, await running(world, session), world.later())

    assert await world.store.transact(input_queue.list_inputs, session.id) == []
    assert await contents_of(world, session) == []
    assert (await world.store.transact(sessions.get, session.id)).state is SessionState.IDLE


async def test_a_turn_that_was_asked_to_stop_before_it_found_nothing_to_do_is_stopped(
    world: World,
) -> None:
    session = await world.session()
    begun = await world.begun(session)
    await world.store.transact(lanes.request_stop, session.id, StopReason.PERSON)

    await world.store.transact(turns.drop, await running(world, session), world.later())

    assert (await world.store.transact(sessions.get, session.id)).state is SessionState.IDLE
    answer = await world.store.transact(turns.answer, session.id, begun.turn.input.id)
    assert (answer.status, answer.outcome) == ("done", "stopped")
