"""What the disk, PostgreSQL and pydantic-ai cost without Navi: the lower bounds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.turns.figures import Spread, spread_of
from benchmarks.turns.plan import Plan
from benchmarks.turns.stores import Stores

TEXT = "[[say: x]]"


def commits_per_second(plan: Plan, stores: Stores, clients: int) -> float:
    """One inserted row per commit, by this many clients, each as durable as an admitted input.

    SQLite has one writer, however many clients there are.
    """
    if stores.postgres is None:
        return _sqlite_commits(stores.directory / "floor.sqlite3", plan.floor_seconds)
    return _postgresql_commits(stores.postgres.create_database(), plan.floor_seconds, clients)


async def agent_run(plan: Plan) -> Spread:
    """The scripted model in a bare pydantic-ai agent, in this process: no server, no store."""
    import pydantic_ai
    from pydantic_ai import Agent

    from navi.live.agents.builtin.scripted_model import scripted_model

    pydantic_ai.BANNER_ENABLED = False
    agent = Agent(scripted_model(), output_type=[str, type(None)])
    taken = []
    for _ in range(20 + plan.turns):
        started_at = time.perf_counter()
        async with agent.run_stream_events(TEXT) as events:
            async for _event in events:
                pass
        taken.append((time.perf_counter() - started_at) * 1000)
    return spread_of(taken[20:])


def _sqlite_commits(path: Path, seconds: float) -> float:
    try:
        import pysqlite3 as sqlite3
    except ImportError:
        import sqlite3

    connection = sqlite3.connect(str(path), isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS floor (id INTEGER PRIMARY KEY, text TEXT)")

    def commit() -> None:
        connection.execute("INSERT INTO floor (text) VALUES (?)", (TEXT,))

    try:
        return _count(commit, seconds) / seconds
    finally:
        connection.close()


def _postgresql_commits(url: str, seconds: float, clients: int) -> float:
    import psycopg

    connections = [psycopg.connect(url, autocommit=True) for _ in range(clients)]
    connections[0].execute("CREATE TABLE floor (id bigserial PRIMARY KEY, text text)")
    counts: list[int] = []

    def work(connection: psycopg.Connection[tuple[object, ...]]) -> None:
        def commit() -> None:
            connection.execute("INSERT INTO floor (text) VALUES (%s)", (TEXT,))

        counts.append(_count(commit, seconds))

    threads = [threading.Thread(target=work, args=(each,)) for each in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()
    return sum(counts) / seconds


def _count(action: Callable[[], None], seconds: float) -> int:
    count = 0
    end_at = time.monotonic() + seconds
    while time.monotonic() < end_at:
        action()
        count += 1
    return count
