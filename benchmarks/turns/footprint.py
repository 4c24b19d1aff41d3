"""Start-up time and resident memory."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
import urllib.request
from statistics import median

from benchmarks.turns.connection import Connection
from benchmarks.turns.figures import Row
from benchmarks.turns.plan import Plan
from benchmarks.turns.processor import resident_mb
from benchmarks.turns.stores import Stores
from tests.server import ServerProcess

IDLE_GOAL_MB = 120
SETTLE_SECONDS = 0.5
SESSIONS_AT_ONCE = 20


async def measure(plan: Plan, stores: Stores) -> list[Row]:
    store = stores.kind
    started_at = time.perf_counter()
    with stores.server() as server:
        first = _ready(server, started_at)
        starts = [_restart(server) for _ in range(plan.starts)]
        await asyncio.sleep(SETTLE_SECONDS)
        idle = resident_mb(server)
        await _finish_turns(server, 1)
        after_turn = resident_mb(server)
        await _finish_turns(server, plan.sessions)
        with_sessions = resident_mb(server)
    more = (with_sessions - after_turn) * 1000 / plan.sessions
    return [
        Row("`navi --help`", store, f"{_help_ms(plan):,.0f} ms"),
        Row("start-up to ready, new database", store, f"{first:,.0f} ms"),
        Row("start-up to ready, again", store, f"{median(starts):,.0f} ms"),
        Row(
            "memory, idle after start",
            store,
            f"{idle:.0f} MB",
            goal=f"< {IDLE_GOAL_MB} MB",
            is_met=idle < IDLE_GOAL_MB,
        ),
        Row("memory, after the first turn", store, f"{after_turn:.0f} MB"),
        Row(
            f"memory, {plan.sessions:,} sessions with a finished turn",
            store,
            f"{with_sessions:.0f} MB",
            beside=f"{more:.1f} kB for each session",
        ),
    ]


def _help_ms(plan: Plan) -> float:
    taken = []
    for _ in range(2 * plan.starts + 1):
        started_at = time.perf_counter()
        command = [sys.executable, "-m", "navi.cli.navi.main", "--help"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken.append((time.perf_counter() - started_at) * 1000)
    return median(taken)


def _restart(server: ServerProcess) -> float:
    server.stop()
    started_at = time.perf_counter()
    server.start()
    return _ready(server, started_at)


def _ready(server: ServerProcess, started_at: float) -> float:
    """Milliseconds until the first request was answered."""
    urllib.request.urlopen(f"{server.address}/health").read()
    return (time.perf_counter() - started_at) * 1000


async def _finish_turns(server: ServerProcess, sessions: int) -> None:
    """A new session for each turn."""
    remaining = iter(range(sessions))

    async def work() -> None:
        async with Connection(server.address, server.token) as connection:
            for _ in remaining:
                session_id = await connection.session()
                await connection.say(session_id, "[[say: x]]")
                await _until_idle(connection, session_id)

    await asyncio.gather(*(work() for _ in range(min(sessions, SESSIONS_AT_ONCE))))
    await asyncio.sleep(SETTLE_SECONDS)


async def _until_idle(connection: Connection, session_id: str) -> None:
    # By polling: a socket would take memory of its own.
    while True:
        session = await connection.call("GET", f"/sessions/{session_id}")
        if session["state"] == "idle":
            return
        await asyncio.sleep(0.02)
