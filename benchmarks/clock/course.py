"""The course: the same measurements for every contestant, in its own process, in real time.

Used with Navi's environment and with the peers', so it needs nothing but psutil.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn, Protocol

import psutil

from benchmarks.clock.plan import Plan

WARM_UP = 20
WARM_UP_LEAD_SECONDS = 4.0
SETTLE_SECONDS = 3.0
LEAST_LEAD_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Job:
    """A job that comes due. The contestant reports its number when it is admitted."""

    number: int
    due_at: datetime


Note = Callable[[int], None]
"""Called from any thread, at the moment a job is admitted, with its number."""


class Contestant(Protocol):
    async def load(self, pending: int) -> None:
        """Fill an empty database with this many jobs due in the distant future."""

    def running(self, note: Note) -> AbstractAsyncContextManager[None]:
        """Run the scheduler while the context is open."""

    async def schedule(self, jobs: Sequence[Job]) -> None: ...

    async def tidy(self) -> None:
        """Remove the jobs that were admitted, so that every round begins alike."""


@dataclass(frozen=True, slots=True)
class Heat:
    """One set of jobs and how late each was."""

    lateness_ms: list[float]
    missing: int
    """How many were not admitted before the timeout."""
    doubled: int
    per_second: float
    """Admitted jobs divided by the time from the first due instant to the last admission."""
    machine_ms: list[float]
    """How late a process was that only slept until each due instant."""
    stolen: float
    """The processor time that other virtual machines took meanwhile, as a share of one core."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Shares of one core."""

    own: float
    database: float | None
    """PostgreSQL with all its processes. None where the database is a file."""


class Course:
    def __init__(self, contestant: Contestant, plan: Plan, database_pid: int | None) -> None:
        self._contestant = contestant
        self._plan = plan
        self._database_pid = database_pid
        self._noted: list[tuple[int, float]] = []
        self._next_number = 0
        self._expected = 0

    async def run(self) -> NoReturn:
        """Write the result as JSON and exit at once: the database is deleted anyway."""
        plan = self._plan
        started_at = time.monotonic()
        await self._contestant.load(plan.pending)
        _say(f"{plan.pending:,} loaded in {time.monotonic() - started_at:.0f} s")
        async with self._contestant.running(self._note):
            await asyncio.sleep(SETTLE_SECONDS)
            idle = await self._idle() if plan.idle_seconds else None
            bursts, spreads = await self._heats()
            print(json.dumps(_result(idle, bursts, spreads)), flush=True)
            os._exit(0)

    async def _heats(self) -> tuple[list[Heat], list[Heat]]:
        plan = self._plan
        await self._heat([0.0] * WARM_UP, WARM_UP_LEAD_SECONDS)
        bursts = []
        for _ in range(plan.rounds):
            bursts.append(await self._heat([0.0] * plan.burst, plan.lead_seconds))
            if bursts[-1].missing:
                # Leftover jobs would disturb everything that follows.
                return bursts, []
        count = plan.spread_per_second * plan.spread_seconds
        offsets = [number / plan.spread_per_second for number in range(count)]
        spreads = [await self._heat(offsets, plan.lead_seconds) for _ in range(plan.rounds)]
        return bursts, spreads

    async def _heat(self, offsets: Sequence[float], lead_seconds: float) -> Heat:
        """Schedule jobs for the same future instant plus their offsets and wait for all of them."""
        self._noted, self._expected = [], len(offsets)
        self._loop, self._complete = asyncio.get_running_loop(), asyncio.Event()
        base = math.ceil(time.time() + lead_seconds)
        jobs = []
        for offset in offsets:
            jobs.append(Job(self._next_number, datetime.fromtimestamp(base + offset, UTC)))
            self._next_number += 1
        await self._contestant.schedule(jobs)
        left = base - time.time()
        if left < LEAST_LEAD_SECONDS:
            raise RuntimeError(f"scheduling took too long: {left:.1f} s were left")
        _say(f"{len(jobs):,} scheduled, {left:.1f} s before the first is due")
        begun_at, stolen_before = time.monotonic(), _stolen_seconds()
        sleeper = await _sleeper(sorted({base + offset for offset in offsets}))
        with suppress(TimeoutError):
            async with asyncio.timeout(left + max(offsets) + self._plan.timeout_seconds):
                await self._complete.wait()
        stolen = (_stolen_seconds() - stolen_before) / (time.monotonic() - begun_at)
        machine_ms = json.loads((await sleeper.communicate())[0])
        heat = _measured(jobs, list(self._noted), machine_ms, stolen)
        await self._contestant.tidy()
        return heat

    def _note(self, number: int) -> None:
        self._noted.append((number, time.time()))
        if len(self._noted) == self._expected:
            self._loop.call_soon_threadsafe(self._complete.set)

    async def _idle(self) -> Idle:
        own = psutil.Process()
        before, database_before = _processor_seconds([own]), self._database_seconds()
        started_at = time.monotonic()
        await asyncio.sleep(self._plan.idle_seconds)
        taken = time.monotonic() - started_at
        database = self._database_seconds()
        return Idle(
            own=(_processor_seconds([own]) - before) / taken,
            database=None if database is None else (database - (database_before or 0)) / taken,
        )

    def _database_seconds(self) -> float | None:
        if self._database_pid is None:
            return None
        server = psutil.Process(self._database_pid)
        return _processor_seconds([server, *server.children(recursive=True)])


async def _sleeper(instants: Sequence[float]) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.clock.sleeper"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(instants).encode())
    process.stdin.close()
    return process


def _measured(
    jobs: Sequence[Job],
    noted: Sequence[tuple[int, float]],
    machine_ms: list[float],
    stolen: float,
) -> Heat:
    due = {job.number: job.due_at.timestamp() for job in jobs}
    # Leftovers of an earlier set do not belong to this one.
    own = [(number, at) for number, at in noted if number in due]
    first: dict[int, float] = {}
    for number, at in own:
        first.setdefault(number, at)
    seconds = max(first.values(), default=math.nan) - min(due.values())
    return Heat(
        lateness_ms=sorted((at - due[number]) * 1000 for number, at in first.items()),
        missing=len(due) - len(first),
        doubled=sum(count - 1 for count in Counter(number for number, _ in own).values()),
        per_second=len(first) / seconds if first else 0.0,
        machine_ms=machine_ms,
        stolen=stolen,
    )


def _result(idle: Idle | None, bursts: Sequence[Heat], spreads: Sequence[Heat]) -> dict[str, Any]:
    return {
        "idle": None if idle is None else asdict(idle),
        "bursts": [asdict(heat) for heat in bursts],
        "spreads": [asdict(heat) for heat in spreads],
    }


def _stolen_seconds() -> float:
    """Available on Linux only."""
    return float(getattr(psutil.cpu_times(), "steal", 0.0))


def _processor_seconds(processes: Sequence[psutil.Process]) -> float:
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system
    return total


def _say(text: str) -> None:
    print(f"    {text}", file=sys.stderr, flush=True)
