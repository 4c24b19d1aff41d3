"""Signals between processes that share a store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from navi.live.store import sessions
from navi.live.store.engine import schema, signals
from navi.live.store.engine.dialects import postgresql, sqlite
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.engine.transactions import Store
from tests.postgres import PostgresServer
from tests.store_world import NOON, World

Heard = asyncio.Queue[tuple[str, str]]
MISSED = {(channel, "") for channel in signals.CHANNELS}
PATIENCE_SECONDS = 20.0


@pytest.fixture
def url(postgres: PostgresServer) -> str:
    return postgres.create_database()


@pytest.fixture
async def heard(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Heard]:
    monkeypatch.setattr(postgresql, "RECONNECT_SECONDS", 0.01)
    queue: Heard = asyncio.Queue()
    listening = asyncio.create_task(
        signals.listen(url, "me", lambda *signal: queue.put_nowait(signal))
    )
    yield queue
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)


async def test_a_new_listener_learns_that_something_may_have_been_missed(
    heard: Heard,
) -> None:
    assert {await next_of(heard) for _ in signals.CHANNELS} == MISSED


async def test_signals_arrive_in_the_order_in_which_they_were_sent(heard: Heard, url: str) -> None:
    for _ in signals.CHANNELS:
        await next_of(heard)
    sent = [(signals.WORK, str(number)) for number in range(300)]

    await tell(url, *sent)

    assert [await next_of(heard) for _ in sent] == sent


async def test_a_process_does_not_hear_its_own_signals_from_the_database(
    heard: Heard, url: str
) -> None:
    for _ in signals.CHANNELS:
        await next_of(heard)

    await tell(url, (signals.WORK, "own"), sender="me")
    await tell(url, (signals.WORK, "other"))

    assert await next_of(heard) == (signals.WORK, "other")


async def test_signals_are_heard_again_after_the_connection_was_lost(
    heard: Heard, url: str
) -> None:
    for _ in signals.CHANNELS:
        await next_of(heard)

    await cut_others(url)

    assert {await next_of(heard) for _ in signals.CHANNELS} == MISSED
    await tell(url, (signals.STOPS, "a session"))
    assert await next_of(heard) == (signals.STOPS, "a session")


async def test_other_servers_hear_that_a_session_was_ended(heard: Heard, url: str) -> None:
    for _ in signals.CHANNELS:
        await next_of(heard)
    schema.prepare(url)
    store = Store(url)
    store.start()
    session = await World(store).session()
    await store.transact(sessions.kill, session.id, NOON)
    await store.close()
    while await next_of(heard) != (signals.ENDS, ""):
        pass


async def next_of(heard: Heard) -> tuple[str, str]:
    return await asyncio.wait_for(heard.get(), PATIENCE_SECONDS)


async def tell(url: str, *sent: tuple[str, str], sender: str = "another") -> None:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        for channel, payload in sent:
            await connection.execute("SELECT pg_notify(%s, %s)", (channel, f"{sender} {payload}"))


async def cut_others(url: str) -> None:
    """Cut the connection, as a network failure or an administrator would."""
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def test_a_ring_beside_sqlite_is_heard_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BELL_CHECK_SECONDS", 0.01)
    url = sqlite_url(tmp_path / "navi.sqlite3")
    signals.wake_server(url)
    queue: Heard = asyncio.Queue()
    listening = asyncio.create_task(
        signals.listen(url, "me", lambda *signal: queue.put_nowait(signal))
    )
    # It has read the bell's old value.
    await asyncio.sleep(0)
    signals.wake_server(url)
    assert {await next_of(queue) for _ in signals.CHANNELS} == MISSED
    assert queue.empty()
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
