"""From the driver to many sockets: how late deltas arrive, and how many arrive."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from websockets.asyncio.client import connect

from benchmarks.turns.figures import Row, Spread, middle, spread_of
from benchmarks.turns.plan import DELTAS_PER_SECOND, WATCHERS, Plan
from benchmarks.turns.processor import Stopwatch, resident_mb
from benchmarks.turns.stores import ROOT, Stores
from benchmarks.turns.watchers import SocketStats, watching
from tests.server import Client, ServerProcess

GOAL_MS = 20.0
GOAL_SOCKETS = 100


@dataclass(frozen=True, slots=True)
class Delivery:
    """One stream to a number of sockets; the median of the rounds."""

    spread: Spread
    frames_per_second: float
    processor: float
    """The share of one core that the server took."""
    is_complete: bool
    is_compressed: bool


@dataclass(frozen=True, slots=True)
class Peer:
    """A running peer.py."""

    pid: int
    netloc: str


Play = Callable[[float, float], Awaitable[None]]
"""Start a stream with this rate (deltas a second) and length (seconds), and wait for its end."""


async def measure(plan: Plan, stores: Stores) -> list[Row]:
    """Measure each number of sockets with Navi, and with the bare server of peer.py."""
    sizes = [(count, DELTAS_PER_SECOND) for count in WATCHERS]
    sizes += [(plan.fan_out_sockets, rate) for rate in plan.fan_out_rates]
    rows = []
    with stores.metronome() as server, _peer() as peer:
        async with server.client() as client:
            # First, because a server keeps the memory that streams have used.
            idle = await _idle(plan, stores.kind, server, client)
            for sockets, rate in sizes:
                navi = await _through_navi(plan, server, client, sockets, rate)
                bare = await _through_peer(plan, peer, sockets, rate)
                rows.append(_row(stores.kind, sockets, rate, navi, bare))
    return [*rows, idle]


def _row(store: str, sockets: int, rate: int, navi: Delivery, bare: Delivery) -> Row:
    is_fan_out = sockets > max(WATCHERS)
    what = "fan-out" if is_fan_out else "delta latency"
    parts = [f"{navi.frames_per_second:,.0f} frames/s"] if is_fan_out else []
    parts.append(f"CPU {navi.processor:.0%}")
    if not navi.is_complete:
        parts.append("DELTAS MISSING")
    has_goal = sockets == GOAL_SOCKETS
    spread = f"p50 {bare.spread.p50:.1f}, p99 {bare.spread.p99:.1f} ms, CPU {bare.processor:.0%}"
    return Row(
        f"{what}, {sockets:,} socket{'s' if sockets > 1 else ''}, {rate} deltas/s"
        + (" (compressed)" if navi.is_compressed else ""),
        store,
        ", ".join(parts),
        navi.spread,
        goal=f"p99 < {GOAL_MS:.0f} ms" if has_goal else "",
        is_met=navi.spread.p99 < GOAL_MS if has_goal else None,
        beside=f"{navi.spread.p50 / bare.spread.p50:.1f} × bare broadcast ({spread})",
    )


async def _through_navi(
    plan: Plan, server: ServerProcess, client: Client, sockets: int, rate: int
) -> Delivery:
    rounds = []
    for _ in range(plan.rounds if sockets <= max(WATCHERS) else plan.fan_out_rounds):
        session_id = await client.session(driver="metronome")

        async def play(rate: float, seconds: float, session_id: str = session_id) -> None:
            async with client.watch(session_id, after=0) as socket:
                await client.say(session_id, f"{rate} {seconds}")
                async for frame in socket:
                    event = json.loads(frame)
                    if event["type"] == "stream_end":
                        if event["outcome"] != "ok":
                            raise RuntimeError(f"a turn of the metronome failed: {event['error']}")
                        return

        url = f"{server.address}/ws/sessions/{session_id}"
        pid = server.process.pid
        rounds.append(await _deliver(plan, pid, url, server.token, sockets, rate, play))
    return _middle(rounds)


async def _through_peer(plan: Plan, peer: Peer, sockets: int, rate: int) -> Delivery:
    async def play(rate: float, seconds: float) -> None:
        async with connect(f"ws://{peer.netloc}/", proxy=None) as socket:
            await socket.send(f"{rate} {seconds}")
            await asyncio.sleep(seconds)

    return await _deliver(plan, peer.pid, f"http://{peer.netloc}/", "", sockets, rate, play)


@contextmanager
def _peer() -> Iterator[Peer]:
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.turns.peer"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    try:
        yield Peer(process.pid, f"127.0.0.1:{int(process.stdout.readline())}")
    finally:
        process.kill()
        process.communicate()


async def _deliver(
    plan: Plan, pid: int, url: str, token: str, sockets: int, rate: int, play: Play
) -> Delivery:
    with watching(url, token, sockets) as processes:
        for process in processes:
            await process.wait_until_open()
        watch = Stopwatch(pid)
        await play(rate, plan.stream_seconds)
        taken = watch.seconds()
        for process in processes:
            process.finish()
        stats = [await process.stats() for process in processes]
    return _delivery(stats, taken, round(rate * plan.stream_seconds))


async def _idle(plan: Plan, store: str, server: ServerProcess, client: Client) -> Row:
    """Idle sockets should cost nothing but memory."""
    session_id = await client.session()
    url = f"{server.address}/ws/sessions/{session_id}"
    before = resident_mb(server)
    with watching(url, server.token, plan.fan_out_sockets) as processes:
        for process in processes:
            await process.wait_until_open()
        watch = Stopwatch(server.process.pid)
        await asyncio.sleep(plan.idle_seconds)
        share = watch.seconds() / plan.idle_seconds
        after = resident_mb(server)
    return Row(
        f"{plan.fan_out_sockets:,} idle sockets",
        store,
        f"{after:.0f} MB, CPU {share:.1%}",
        beside=f"{(after - before) * 1000 / plan.fan_out_sockets:.0f} kB more for each socket",
    )


def _delivery(stats: list[SocketStats], processor_seconds: float, made: int) -> Delivery:
    first_at = min(each.first_at for each in stats)
    seconds = (max(each.last_at for each in stats) - first_at) / 1e9
    return Delivery(
        spread=spread_of([latency / 1e6 for each in stats for latency in each.latencies]),
        frames_per_second=sum(each.frames for each in stats) / seconds,
        processor=processor_seconds / seconds,
        is_complete=all(each.fewest == made for each in stats),
        is_compressed=stats[0].is_compressed,
    )


def _middle(rounds: list[Delivery]) -> Delivery:
    return Delivery(
        spread=middle([each.spread for each in rounds]),
        frames_per_second=median(each.frames_per_second for each in rounds),
        processor=median(each.processor for each in rounds),
        is_complete=all(each.is_complete for each in rounds),
        is_compressed=rounds[0].is_compressed,
    )
