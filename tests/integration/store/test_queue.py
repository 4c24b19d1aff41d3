from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select

from navi.base.errors import Conflict, InputNotFound, SessionNotFound, SessionStopped
from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import DeliveryMode, NewInput
from navi.live.model.message import drafts_of
from navi.live.model.turn import Ending, Outcome, StopReason
from navi.live.store import input_queue, lanes, sessions, turns
from navi.live.store.engine.tables import message_queue
from tests.store_world import NOON, World


async def test_an_admitted_input_waits_in_the_queue_and_is_announced(world: World) -> None:
    session = await world.session()

    admission = await world.admit(session, "look", metadata={"from": "test"})

    (waiting,) = await world.store.transact(input_queue.list_inputs, session.id)
    assert (waiting.id, waiting.text, waiting.metadata) == (
        admission.input_id,
        "look",
        {"from": "test"},
    )
    assert world.published[-1].type == "input_queued"
    assert world.published[-1].payload["input"]["id"] == admission.input_id


async def test_the_position_counts_the_inputs_that_go_first(world: World) -> None:
    session = await world.session()
    assert (await world.admit(session)).position == 0
    assert (await world.admit(session)).position == 1
    assert (await world.admit(session, delivery_mode=DeliveryMode.URGENT)).position == 0
    assert (await world.admit(session, delivery_mode=DeliveryMode.IMPORTANT)).position == 1
    assert (await world.admit(session)).position == 4


async def test_the_same_input_sent_again_is_admitted_once(world: World) -> None:
    session = await world.session()
    for _ in range(3):
        await world.admit(session, "once", id="the-same-id")

    assert len(await world.store.transact(input_queue.list_inputs, session.id)) == 1
    assert [event.type for event in world.published].count("input_queued") == 1


async def test_an_input_id_cannot_be_used_for_another_text(world: World) -> None:
    session = await world.session()
    await world.admit(session, "one", id="the-same-id")

    with pytest.raises(Conflict):
        await world.admit(session, "two", id="the-same-id")


async def test_racing_admissions_get_each_their_own_place(world: World) -> None:
    session = await world.session()

    await asyncio.gather(*(world.admit(session, f"{number}") for number in range(40)))

    waiting = await world.store.transact(input_queue.list_inputs, session.id)
    assert [each.ordinal for each in waiting] == list(range(40))
    seqs = [event.seq for event in world.published if event.session_id == session.id]
    assert sorted(seqs) == list(range(1, 42))


async def test_an_unknown_session_takes_no_input(world: World) -> None:
    with pytest.raises(SessionNotFound):
        await world.store.transact(
            input_queue.admit, NewInput(id="some-input", session_id="nobody", text="x"), NOON
        )


async def test_an_ended_session_takes_no_input_and_drops_what_waited_visibly(world: World) -> None:
    session = await world.session()
    admission = await world.admit(session)

    await world.store.transact(sessions.kill, session.id, world.later())

    with pytest.raises(SessionStopped):
        await world.admit(session)
    removed = [event.payload for event in world.published if event.type == "input_removed"]
    assert removed == [{"input_id": admission.input_id}]


async def test_a_waiting_input_can_be_edited_and_removed(world: World) -> None:
    session = await world.session()
    first = await world.admit(session, "first")
    second = await world.admit(session, "second")

    edited = await world.store.transact(
        input_queue.edit, session.id, first.input_id, {"text": "better"}, world.later()
    )
    await world.store.transact(input_queue.remove, session.id, second.input_id, world.later())

    assert edited.text == "better"
    assert [
        each.text for each in await world.store.transact(input_queue.list_inputs, session.id)
    ] == ["better"]


async def test_a_delivered_input_can_neither_be_edited_nor_removed(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)

    with pytest.raises(InputNotFound):
        await world.store.transact(
            input_queue.edit, session.id, begun.turn.input.id, {"text": "late"}, world.later()
        )
    with pytest.raises(InputNotFound):
        await world.store.transact(
            input_queue.remove, session.id, begun.turn.input.id, world.later()
        )


async def test_an_input_of_another_session_cannot_be_touched(world: World) -> None:
    mine, other = await world.session(), await world.session()
    admission = await world.admit(other)

    with pytest.raises(InputNotFound):
        await world.store.transact(input_queue.remove, mine.id, admission.input_id, world.later())


@pytest.mark.parametrize("mode", [DeliveryMode.SEQUENTIAL, DeliveryMode.IMPORTANT])
async def test_only_an_urgent_input_asks_the_running_turn_to_stop(
    world: World, mode: DeliveryMode
) -> None:
    session = await world.session()
    await world.begun(session)

    await world.admit(session, delivery_mode=mode)
    (running,) = await world.store.transact(lanes.running)
    assert running.stop_reason is None

    await world.admit(session, delivery_mode=DeliveryMode.URGENT)
    (running,) = await world.store.transact(lanes.running)
    assert running.stop_reason is StopReason.URGENT


async def test_deleting_a_session_deletes_its_inputs_and_no_others(world: World) -> None:
    doomed, kept = await world.session(), await world.session()
    for session in (doomed, kept):
        begun = await world.begun(session)
        await world.admit(session, "waits")
        happened = [TextDelta("done")]
        end = (happened, drafts_of(happened), Ending(Outcome.OK), Usage(), world.later())
        await world.store.transact(turns.finish, begun.turn, 0, *end)

    await world.store.transact(sessions.remove, doomed.id, world.later())

    rows = await world.store.transact(
        lambda connection: connection.execute(
            select(message_queue.c.session_id, message_queue.c.delivered_at.is_(None))
        ).all()
    )
    assert sorted(rows) == [(kept.id, False), (kept.id, True)]
