from __future__ import annotations

import asyncio

import psycopg
import pytest

from navi.base.errors import SessionNotFound
from navi.live.model.event import Payload, TextDelta
from navi.live.store import events, sessions, turns
from navi.live.store.lanes import lock
from tests.store_world import World


async def test_each_session_counts_its_own_events_and_all_count_together(world: World) -> None:
    pair = [await world.session(), await world.session()]
    await asyncio.gather(*(world.admit(session) for _ in range(20) for session in pair))

    for session in pair:
        stored = await world.store.transact(events.read_session, session.id, 0, 1000)
        assert [event.seq for event in stored] == list(range(1, 22))
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

    stored = await world.store.transact(events.read_session, session.id, 0, 1000)
    assert [event.seq for event in stored] == [1, 2]
    assert [event.type for event in world.published] == ["session_update", "input_queued"]


async def test_a_turn_that_extends_itself_after_its_lane_was_locked_repeats_no_number(
    world: World,
) -> None:
    session = await world.session()
    await world.admit(session)
    begun = await world.begin(session)
    assert begun is not None

    def lock_extend_and_change(connection):
        lock(connection, session.id)
        turns.extend(connection, begun.turn, 0, [TextDelta("hello")], world.now)
        sessions.change(connection, session.id, {"task": "build it"}, world.now)

    await world.store.transact(lock_extend_and_change)

    stored = await world.store.transact(events.read_session, session.id, 0, 1000)
    assert [event.seq for event in stored] == list(range(1, len(stored) + 1))


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
    stored = await world.store.transact(events.read_session, session.id, 0, 1000)
    assert [event.seq for event in stored] == list(range(1, 22))


async def test_what_is_sent_is_what_was_stored(world: World) -> None:
    session = await world.session()
    for number in range(5):
        await world.admit(session, f"text {number}")

    assert world.published == await world.store.transact(events.read_session, session.id, 0, 1000)


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


async def test_events_come_back_as_they_were_whatever_characters_are_in_them(world: World) -> None:
    session = await world.session()
    odd = "tab\tline\nreturn\rback\\slash \\N \\t 'quoted' \"twice\" {braces} ünïcødé 𝄞 \x01"

    def emits(connection, session_id):
        items: list[tuple[str, Payload]] = [
            ("stream_delta", {"delta": odd, odd: None}),
            ("recall_update", {"recall": None}),
        ]
        events.emit(connection, session_id, None, items, world.now)
        events.emit(connection, session_id, odd, items, world.now)

    await world.store.transact(emits, session.id)

    stored = await world.store.transact(events.read_session, session.id, 1, 1000)
    assert stored == world.published[1:]
    assert [event.turn_id for event in stored] == [None, None, odd, odd]
    assert stored[0].payload == {"delta": odd, odd: None}


async def test_events_whose_connection_breaks_while_they_are_written_are_stored_once(
    world: World,
) -> None:
    if world.store.dialect.kind != "postgresql":
        pytest.skip("a file has no connection")
    session = await world.session()
    attempts: list[int] = []

    def breaks_once(connection, session_id):
        events.emit(connection, session_id, None, [("session_update", {})], world.now)
        attempts.append(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
        if len(attempts) == 1:
            with psycopg.connect(world.url) as other:
                other.execute("SELECT pg_terminate_backend(%s, 10000)", (attempts[0],))

    await world.store.transact(breaks_once, session.id)

    stored = await world.store.transact(events.read_session, session.id, 0, 1000)
    assert [event.seq for event in stored] == [1, 2]
    assert len(set(attempts)) == 2
