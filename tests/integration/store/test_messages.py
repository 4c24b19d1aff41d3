"""Messages between sessions: which share a turn, and the notices to their senders."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import DeliveryMode, Input, Origin, prompt_of
from navi.live.model.message import Draft
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome, RunningTurn
from navi.live.store import input_queue, sessions, transcript, turns
from tests.store_world import World


async def busy(world: World) -> tuple[Session, turns.TurnStart]:
    session = await world.session()
    return session, await world.begun(session, "first")


async def message(world: World, to: Session, text: str, sender: Session, **fields: Any) -> str:
    admission = await world.admit(
        to,
        text,
        origin=Origin.AGENT,
        sender_session_id=sender.id,
        metadata={"sender": {"id": sender.id, "name": sender.name}},
        **fields,
    )
    return admission.input_id


async def end(world: World, begun: turns.TurnStart, words: str = "done") -> None:
    ending = Ending(Outcome.OK)
    await world.store.transact(
        turns.finish, begun.turn, 0, [], [Draft(content=words)], ending, Usage(), world.later()
    )


async def next_turn(world: World, session: Session) -> list[str]:
    begun = await world.begin(session)
    assert begun is not None
    await end(world, begun)
    return [each.text for each in begun.turn.inputs]


async def notices(world: World, session: Session) -> list[Input]:
    waiting = await world.store.transact(input_queue.list_inputs, session.id)
    return [each for each in waiting if "notice" in each.metadata]


async def test_messages_of_agents_that_wait_are_joined_in_their_order(world: World) -> None:
    sender = await world.session(name="lead")
    session, first = await busy(world)
    for text in ("one", "two", "three"):
        await message(world, session, text, sender)
    await end(world, first)

    begun = await world.begin(session)

    assert begun is not None
    header = f"[message from lead ({sender.id})]\n"
    assert prompt_of(begun.turn.inputs) == f"{header}one\n\n{header}two\n\n{header}three"
    await end(world, begun)
    messages = await world.store.transact(transcript.read, session.id)
    assert [each.content for each in messages[2:]] == ["one", "two", "three", "done"]
    assert [each.idx for each in messages] == list(range(6))
    assert await world.store.transact(input_queue.list_inputs, session.id) == []


async def test_slash_commands_and_peoples_texts_have_turns_of_their_own(world: World) -> None:
    sender = await world.session()
    session, first = await busy(world)
    await message(world, session, "one", sender)
    await message(world, session, "/compact", sender)
    await message(world, session, "two", sender)
    await message(world, session, "three", sender)
    await world.admit(session, "a person")
    await world.admit(session, "another person")
    await message(world, session, "four", sender)
    await end(world, first)

    turns_ = [await next_turn(world, session) for _ in range(6)]

    assert turns_ == [
        ["one"],
        ["/compact"],
        ["two", "three"],
        ["a person"],
        ["another person"],
        ["four"],
    ]


async def test_a_command_is_given_to_the_agent_as_it_is(world: World) -> None:
    sender = await world.session()
    session, first = await busy(world)
    await message(world, session, "/compact", sender)
    await end(world, first)
    begun = await world.begin(session)
    assert begun is not None
    assert prompt_of(begun.turn.inputs) == "/compact"


async def test_messages_of_different_modes_are_not_joined(world: World) -> None:
    sender = await world.session()
    session, first = await busy(world)
    await message(world, session, "in order", sender)
    await message(world, session, "overtakes", sender, delivery_mode=DeliveryMode.IMPORTANT)
    await message(world, session, "interrupts", sender, delivery_mode=DeliveryMode.URGENT)
    await end(world, first)
    batches = [await next_turn(world, session) for _ in range(3)]
    assert batches == [["interrupts"], ["overtakes"], ["in order"]]


async def test_more_than_an_agent_can_read_at_once_is_split(world: World) -> None:
    sender = await world.session()
    session, first = await busy(world)
    for number in range(60):
        await message(world, session, str(number), sender)
    await message(world, session, "x" * 150_000, sender)
    await message(world, session, "y" * 150_000, sender)
    await end(world, first)
    lengths = [len(await next_turn(world, session)) for _ in range(3)]
    assert lengths == [50, 11, 1]


async def test_joined_messages_of_a_turn_that_died_silently_all_wait_again(world: World) -> None:
    sender = await world.session()
    session, first = await busy(world)
    for text in ("one", "two"):
        await message(world, session, text, sender, notify_on_delivery=True)
    await end(world, first)
    begun = await world.begin(session)
    assert begun is not None
    dead = RunningTurn(begun.turn.id, session.id, begun.turn.fence, "me", world.now, None)

    await world.store.transact(turns.close_dead, dead, world.later())

    assert await next_turn(world, session) == ["one", "two"]
    messages = await world.store.transact(transcript.read, session.id)
    assert [each.content for each in messages] == ["first", "done", "one", "two", "done"]
    # And no delivery was announced twice.
    assert len(await notices(world, sender)) == 2


async def test_joined_messages_of_a_turn_that_died_in_the_middle_are_not_run_again(
    world: World,
) -> None:
    sender = await world.session()
    session, first = await busy(world)
    for text in ("one", "two"):
        await message(world, session, text, sender, notify_on_stop=True)
    await end(world, first)
    begun = await world.begin(session)
    assert begun is not None
    await world.store.transact(turns.extend, begun.turn, 0, [TextDelta("I beg")], world.later())
    dead = RunningTurn(begun.turn.id, session.id, begun.turn.fence, "me", world.now, None)
    await world.store.transact(turns.close_dead, dead, world.later())
    assert await world.begin(session) is None
    (notice,) = await notices(world, sender)
    assert "the server stopped during this turn" in notice.text


async def test_the_sender_is_told_of_delivery_and_of_the_end(world: World) -> None:
    sender = await world.session()
    session = await world.session(name="builder")
    input_id = await message(
        world, session, "build it", sender, notify_on_delivery=True, notify_on_stop=True
    )
    begun = await world.begin(session)
    assert begun is not None
    assert begun.has_notified
    (delivered,) = await notices(world, sender)
    named = f"builder ({session.id})"
    assert delivered.text == f'[sm] {named} received your message: "build it"'
    assert (delivered.delivery_mode, delivered.sender_session_id) == ("important", session.id)
    await end(world, begun, "it is built")
    _, stopped = await notices(world, sender)
    assert stopped.text.splitlines() == [
        f'[sm] {named} has stopped after your message: "build it"',
        "Its last message:",
        "it is built",
    ]
    assert stopped.metadata == {"notice": "stopped", "input_id": input_id}


async def test_each_sender_is_notified_once_however_many_messages_share_a_turn(
    world: World,
) -> None:
    one, two = await world.session(), await world.session()
    session, first = await busy(world)
    for sender in (one, two, one):
        await message(world, session, "please", sender, notify_on_stop=True)
    await end(world, first)
    assert await next_turn(world, session) == ["please"] * 3
    assert len(await notices(world, one)) == len(await notices(world, two)) == 1


async def test_who_is_killed_leaves_word_for_those_whose_messages_are_lost(world: World) -> None:
    sender = await world.session()
    session, _ = await busy(world)
    await message(world, session, "build it", sender, notify_on_stop=True)
    await message(world, session, "no matter", sender)
    await world.store.transact(sessions.kill, session.id, world.later())
    (lost,) = await notices(world, sender)
    assert "was killed and never received" in lost.text
    assert "build it" in lost.text


@pytest.mark.parametrize("gone", ["killed", "deleted", "itself"])
async def test_a_sender_who_cannot_be_notified_holds_up_nobody(world: World, gone: str) -> None:
    sender = await world.session()
    session = sender if gone == "itself" else await world.session()
    await message(world, session, "hi", sender, notify_on_delivery=True, notify_on_stop=True)
    if gone != "itself":
        await world.store.transact(sessions.kill, sender.id, world.later())
    if gone == "deleted":
        await world.store.transact(sessions.remove, sender.id, world.later())
    assert await next_turn(world, session) == ["hi"]


async def test_two_sessions_that_notify_each_other_at_the_same_moment_both_get_through(
    world: World,
) -> None:
    one, two = await world.session(), await world.session()
    for to, sender in ((one, two), (two, one)) * 2:
        await message(world, to, "/ping", sender, notify_on_delivery=True, notify_on_stop=True)
    while any(begun := await asyncio.gather(world.begin(one), world.begin(two))):
        await asyncio.gather(*(end(world, each) for each in begun if each is not None))
    for session in (one, two):
        messages = await world.store.transact(transcript.read, session.id)
        came = [each.id for each in messages if "notice" in each.metadata]
        # Of two deliveries and two ends.
        assert len(came) == len(set(came)) == 4


async def test_children_are_found_through_all_generations(world: World) -> None:
    root = await world.session(parent_id=None)
    child = await world.session(parent_id=root.id)
    grandchild = await world.session(parent_id=child.id)
    await world.session()
    children = await world.store.transact(sessions.descendants, root.id)
    assert {each.id for each in children} == {child.id, grandchild.id}
