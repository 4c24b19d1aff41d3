"""Inputs admitted per second. The sessions are busy, so that nothing but the admission happens."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from statistics import median

from benchmarks.turns.connection import Connection
from benchmarks.turns.figures import Row, middle, share, spread_of
from benchmarks.turns.floors import commits_per_second
from benchmarks.turns.plan import CLIENTS, Plan
from benchmarks.turns.processor import Stopwatch
from benchmarks.turns.stores import Stores
from tests.server import ServerProcess


async def measure(plan: Plan, stores: Stores, server: ServerProcess) -> list[Row]:
    return [await _row(plan, stores, server, clients) for clients in CLIENTS]


async def _row(plan: Plan, stores: Stores, server: ServerProcess, clients: int) -> Row:
    rounds = [await _admit(plan, server, clients) for _ in range(plan.rounds)]
    rate = median(len(taken) / plan.admission_seconds for taken, _ in rounds)
    processor_ms = median(seconds * 1000 / len(taken) for taken, seconds in rounds)
    floor = median(commits_per_second(plan, stores, clients) for _ in range(plan.rounds))
    many = "clients, a busy session each" if clients > 1 else "client, a busy session"
    return Row(
        f"admissions, {clients} {many}",
        stores.kind,
        f"{rate:,.0f}/s, CPU {processor_ms:.1f} ms each",
        middle([spread_of(taken) for taken, _ in rounds]),
        beside=share(rate, floor, "bare commits"),
    )


async def _admit(plan: Plan, server: ServerProcess, clients: int) -> tuple[list[float], float]:
    """How many milliseconds each admission took, and the server's processor time for all."""
    async with AsyncExitStack() as stack:
        connections = [
            await stack.enter_async_context(Connection(server.address, server.token))
            for _ in range(clients)
        ]
        sessions = [await _busy_session(connection) for connection in connections]
        taken: list[float] = []
        watch = Stopwatch(server.process.pid)
        end_at = time.perf_counter() + plan.admission_seconds

        async def send(connection: Connection, session_id: str) -> None:
            while (started_at := time.perf_counter()) < end_at:
                await connection.say(session_id, "[[say: x]]")
                taken.append((time.perf_counter() - started_at) * 1000)

        await asyncio.gather(*map(send, connections, sessions))
        processor_seconds = watch.seconds()
        for connection, session_id in zip(connections, sessions, strict=True):
            await connection.call("POST", f"/sessions/{session_id}/kill")
    return taken, processor_seconds


async def _busy_session(connection: Connection) -> str:
    session_id = await connection.session()
    admitted = await connection.say(session_id, "[[sleep: 600]]")
    assert admitted["status"] == "delivered", admitted
    return session_id
