"""From an input to the end of its turn, on a socket that is already open."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack
from statistics import median

from websockets.asyncio.client import ClientConnection

from benchmarks.turns.connection import Connection
from benchmarks.turns.figures import Row, Spread, middle, spread_of, times
from benchmarks.turns.floors import agent_run
from benchmarks.turns.plan import SHORT_HISTORY_TURNS, Plan
from benchmarks.turns.processor import Stopwatch
from benchmarks.turns.stores import Stores
from tests.server import Client, ServerProcess

GOAL_MS = 15.0
WARM_UP_TURNS = 20
SESSIONS_AT_ONCE = 20
STAGES = ("admitted", "stream_start", "stream_delta", "stream_end")

Stages = dict[str, float]
"""Milliseconds from sending the input to each stage."""


async def measure(plan: Plan, stores: Stores, server: ServerProcess) -> list[Row]:
    async with server.client() as client, Connection(server.address, server.token) as connection:
        await _play(client, connection, WARM_UP_TURNS)
        watch = Stopwatch(server.process.pid)
        rounds = [await _short_histories(plan, client, connection) for _ in range(plan.rounds)]
        processor_ms = watch.seconds() * 1000 / sum(len(turns) for turns in rounds)
        longs = [await _long_history(plan, client, connection) for _ in range(plan.rounds)]
    by_stage = {stage: middle([_spread(turns, stage) for turns in rounds]) for stage in STAGES}
    long = middle([_spread(turns, "stream_end") for turns in longs])
    floor = await agent_run(plan)
    rate = median([await _turns_per_second(plan, server) for _ in range(plan.rounds)])
    overhead = by_stage["stream_end"]
    has_goal = stores.kind == "sqlite"
    return [
        Row(
            "turn overhead: input to stream_end",
            stores.kind,
            f"CPU {processor_ms:.1f} ms each",
            overhead,
            goal=f"p50 < {GOAL_MS:.0f} ms" if has_goal else "",
            is_met=overhead.p50 < GOAL_MS if has_goal else None,
            beside=times(overhead.p50, floor.p50, "bare pydantic-ai run"),
        ),
        Row("  of it: to the response 202", stores.kind, spread=by_stage["admitted"]),
        Row("  of it: to stream_start", stores.kind, spread=by_stage["stream_start"]),
        Row("  of it: to the first delta", stores.kind, spread=by_stage["stream_delta"]),
        Row(
            f"turn overhead after {plan.history_turns} turns in the session",
            stores.kind,
            spread=long,
            beside=f"{long.p50 / overhead.p50:.1f} × the overhead with a short history",
        ),
        Row(
            f"turns, {SESSIONS_AT_ONCE} sessions at once",
            stores.kind,
            f"{rate:,.0f}/s",
            beside=f"{rate * floor.p50 / 1000:.2f} × bare pydantic-ai runs, one after the other",
        ),
    ]


async def _short_histories(plan: Plan, client: Client, connection: Connection) -> list[Stages]:
    turns: list[Stages] = []
    while len(turns) < plan.turns:
        turns += await _play(client, connection, SHORT_HISTORY_TURNS)
    return turns


async def _long_history(plan: Plan, client: Client, connection: Connection) -> list[Stages]:
    turns = await _play(client, connection, plan.history_turns + SHORT_HISTORY_TURNS)
    return turns[plan.history_turns :]


async def _play(client: Client, connection: Connection, count: int) -> list[Stages]:
    """Run this many turns of a new session, one after another."""
    session_id = await connection.session()
    async with client.watch(session_id, after=0) as socket:
        return [await _turn(socket, connection, session_id) for _ in range(count)]


async def _turn(socket: ClientConnection, connection: Connection, session_id: str) -> Stages:
    stages: Stages = {}
    started_at = time.perf_counter()

    async def send() -> None:
        await connection.say(session_id, "[[say: x]]")
        stages["admitted"] = (time.perf_counter() - started_at) * 1000

    sending = asyncio.create_task(send())
    async for frame in socket:
        arrived_at = time.perf_counter()
        type_ = json.loads(frame)["type"]
        stages.setdefault(type_, (arrived_at - started_at) * 1000)
        if type_ == "session_sync":
            break
    await sending
    return stages


async def _turns_per_second(plan: Plan, server: ServerProcess) -> float:
    """Each session gets its next input when its turn has ended."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(server.client())
        done = 0
        end_at = 0.0

        async def play(connection: Connection) -> None:
            nonlocal done
            session_id = await connection.session()
            async with client.watch(session_id, after=0) as socket:
                while time.perf_counter() < end_at:
                    await _turn(socket, connection, session_id)
                    done += 1

        connections = [
            await stack.enter_async_context(Connection(server.address, server.token))
            for _ in range(SESSIONS_AT_ONCE)
        ]
        started_at = time.perf_counter()
        end_at = started_at + plan.turns_seconds
        await asyncio.gather(*map(play, connections))
        return done / (time.perf_counter() - started_at)


def _spread(turns: list[Stages], stage: str) -> Spread:
    return spread_of([stages[stage] for stages in turns])
