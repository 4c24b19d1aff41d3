from __future__ import annotations

import asyncio

import pytest

from navi.domain.errors import SessionNotFound
from navi.store import events, sessions
from tests.store.conftest import World


async def test_each_session_counts_its_own_events_and_all_count_together(world: World) -> None:
    pair = [await world.session(), await world.session()]
    await asyncio.gather(*(world.admit(session) for _ in range(20) for session in pair))

    for session in pair:
        found = await world.store.transact(events.read_session, session.id, 0, 1000)
        assert [event.seq for event in found] == list(range(1, 22))
    everything = await world.store.transact(events.read_all, 0, 1000)
    assert [event.position for event in everything] == list(range(1, 43))


async def test_an_operation_that_fails_leaves_no_event_and_no_gap(world: World) -> None:
    session = await world.session()

    def fails(connection, session_id):
        events.emit(connection, session_id, None, [("session_update", {})], world.now)
        raise RuntimeError("after the event was written")

    with pytest.raises(RuntimeError):
        await world.store.transact(fails, session.id)
    await world.admit(session)

    found = await world.store.transact(events.read_session, session.id, 0, 1000)
    assert [event.seq for event in found] == [1, 2]
    assert [event.type for event in world.told] == ["session_update", "input_queued"]


async def test_one_failure_among_many_does_not_touch_the_others(world: World) -> None:
    session = await world.session()

    def fails(connection):
        raise RuntimeError("only this one")

    results = await asyncio.gather(
        *(world.admit(session) for _ in range(10)),
        world.store.transact(fails),
        *(world.admit(session) for _ in range(10)),
        return_exceptions=True,
    )

    assert len([each for each in results if isinstance(each, RuntimeError)]) == 1
    found = await world.store.transact(events.read_session, session.id, 0, 1000)
    assert [event.seq for event in found] == list(range(1, 22))


async def test_what_is_told_is_what_was_stored(world: World) -> None:
    session = await world.session()
    for number in range(5):
        await world.admit(session, f"text {number}")

    assert world.told == await world.store.transact(events.read_session, session.id, 0, 1000)


async def test_reading_goes_on_after_the_last_seen_event(world: World) -> None:
    session = await world.session()
    for _ in range(9):
        await world.admit(session)

    page = await world.store.transact(events.read_session, session.id, 4, 3)

    assert [event.seq for event in page] == [5, 6, 7]


async def test_the_last_event_of_a_deleted_session_says_so(world: World) -> None:
    session = await world.session()
    await world.admit(session)
    await world.store.transact(sessions.remove, session.id, world.later())

    (farewell,) = await world.store.transact(events.read_session, session.id, 0, 10)
    assert farewell.payload["deleted"] is True
    with pytest.raises(SessionNotFound):
        await world.store.transact(sessions.get, session.id)
