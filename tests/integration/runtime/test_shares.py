"""One user can't keep the others waiting."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from navi.base.ids import new_id
from navi.live.model.access.user import User
from navi.live.model.input import NewInput, Origin
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.scheduling.recall import CallType
from navi.live.model.scheduling.recall_request import RecallRequest
from navi.live.model.session import Session
from navi.live.runtime.turns.turn_slots import Pool, TurnSlots
from tests.live_world import ADA, BOB, LOCAL, LONG, Start, World, counting


async def session_of(world: World, user: User) -> Session:
    return await world.navi.sessions.create(user, driver="scripted", cwd=str(world.folder))


async def say(world: World, user: User, session: Session, text: str) -> bool:
    new = NewInput(id=new_id(), session_id=session.id, text=text)
    return (await world.navi.admission.admit(user, new)).delivered


async def wake(world: World, user: User, text: str = LONG) -> Session:
    session = await session_of(world, user)
    await world.navi.recalls.schedule(
        user,
        session.id,
        RecallRequest(call_type=CallType.IMMEDIATE, additional_context_message=text),
    )
    return session


async def fill(world: World, user: User, *, turns: int, recalls: int) -> None:
    """The user runs this many endless turns and recalls, with as many more waiting."""
    begun = [await say(world, user, await session_of(world, user), LONG) for _ in range(2 * turns)]
    assert begun == [True] * turns + [False] * turns
    woken = [await wake(world, user) for _ in range(recalls)]
    for session in woken:
        await world.started(session)
    for _ in range(recalls):
        await wake(world, user)


async def test_a_user_who_fills_all_slots_stops_nobody_elses_clock(start: Start) -> None:
    async with start(max_concurrent=8) as world:
        await fill(world, BOB, turns=8, recalls=3)

        assert await say(world, ADA, await session_of(world, ADA), "hello")
        woken = await wake(world, ADA, "Look around.")
        assert await world.outcomes(woken, 1) == ["ok"]
        automated = await session_of(world, ADA)
        await world.navi.automations.add(
            ADA,
            automated.id,
            AutomationRequest(name="look", message="Look around.", at="in 1 second"),
        )
        await world.forward(1)
        frames = await world.frames_until(automated, counting("session_sync", 1))
        assert "automation" in [frame.get("origin") for frame in frames]


@pytest.mark.parametrize("prepared_url", ["postgresql"], indirect=True)
async def test_a_user_who_fills_two_servers_stops_nobody_elses_clock(start: Start) -> None:
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(start(max_concurrent=4))
        two = await stack.enter_async_context(start(max_concurrent=4))
        sessions = [await session_of(one, BOB) for _ in range(12)]
        for session in sessions:
            one.clock.move(seconds=1)  # first come, first served
            await say(one, BOB, session, LONG)
        await asyncio.gather(*(one.started(each) for each in sessions[:8]))

        for world in (one, two):
            assert await say(world, ADA, await session_of(world, ADA), "hello")


async def test_a_user_alone_uses_all_slots(start: Start) -> None:
    async with start(max_concurrent=6) as world:
        await fill(world, BOB, turns=6, recalls=3)


async def test_the_user_who_runs_the_fewest_turns_gets_the_next_free_slot(start: Start) -> None:
    async with start(max_concurrent=5, always_per_user=1) as world:
        running = [await session_of(world, BOB) for _ in range(5)]
        for session in running:
            assert await say(world, BOB, session, LONG)
        for _ in range(3):
            assert not await say(world, BOB, await session_of(world, BOB), LONG)
        assert await say(world, ADA, await session_of(world, ADA), LONG)
        waiting = await session_of(world, ADA)
        assert not await say(world, ADA, waiting, "hello")

        # Five slots are free again when the second of Bob's turns has ended.
        await world.navi.sessions.stop(BOB, running[0].id)
        await world.navi.sessions.stop(BOB, running[1].id)

        assert await world.outcomes(waiting, 1) == ["ok"]


async def test_an_admins_message_begins_in_a_slot_of_the_sessions_user(start: Start) -> None:
    async with start(max_concurrent=2, always_per_user=1) as world:
        for _ in range(2):
            assert await say(world, LOCAL, await session_of(world, LOCAL), LONG)
        session = await session_of(world, ADA)
        await say(world, LOCAL, session, "hello")
        assert await world.outcomes(session, 1) == ["ok"]


def test_a_slot_beyond_the_shared_ones_goes_only_to_a_user_who_has_none() -> None:
    all_slots = TurnSlots(Pool(3, 1), {Origin.RECALL: Pool(1, 1)})
    for number in range(3):
        assert Origin.USER in all_slots.reserve(f"bob {number}", "bob", [Origin.USER])
        all_slots.settle(f"bob {number}", Origin.USER)
    assert Origin.USER not in all_slots.free_origins("bob")
    assert Origin.RECALL in all_slots.free_origins("bob")
    assert (Origin.AUTOMATION, "bob") in all_slots.full_origins()

    assert Origin.USER in all_slots.reserve("ada 1", "ada", [Origin.USER])
    assert Origin.USER not in all_slots.reserve("ada 2", "ada", [Origin.USER])

    for turn in ("bob 0", "bob 1", "ada 2"):
        all_slots.settle(turn, None)
    assert all_slots.full_origins() == set()
    assert all_slots.count_free() == 2


def test_a_user_never_runs_more_turns_than_there_are_slots() -> None:
    one_slot = TurnSlots(Pool(1, always_per_user=4), {})
    assert one_slot.reserve("bob 1", "bob", [Origin.USER])
    assert not one_slot.reserve("bob 2", "bob", [Origin.USER])
    assert one_slot.reserve("ada 1", "ada", [Origin.USER])
