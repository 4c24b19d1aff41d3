"""Servers that kill themselves just before or just after a named commit.

`FAILPOINT="after due_recalls.claim:2"` in the environment of a server with the command
`WITH_FAILPOINTS` makes it die by SIGKILL right after it has committed `due_recalls.claim` for the
second time. Navi itself knows nothing of this: the store's worker is wrapped before the server
starts.
"""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from subprocess import TimeoutExpired

import httpx2

from tests.acceptance.flows.mutants import mutant
from tests.server import ServerProcess

STEP_SECONDS = 0.1
MOST_STEPS = 300
"""A failpoint that is not reached by then is never reached."""

FAILPOINTS = """
import os, signal, threading
from navi.live.store.engine import transactions as store
from navi.live.store.due.contract import Claimed

moment, place = os.environ.get("FAILPOINT", "never x:0").split(" ")
wanted, number = place.split(":")
hits, lock, current = [0], threading.Lock(), threading.local()
run_once, store_emitted = store.Store._run_once, store.store_emitted

def names(batch):
    for job in batch:
        name = job.operation.__module__.rsplit(".", 1)[-1] + "." + job.operation.__name__
        # Looking for work and finding none does not count.
        result = job.result.count if isinstance(job.result, Claimed) else job.result
        if result or name in ("turns.finish", "turns.drop"):
            yield name

def die_if_hit():
    with lock:
        before = hits[0]
        hits[0] += list(names(current.batch)).count(wanted)
        if before < int(number) <= hits[0]:
            os.kill(os.getpid(), signal.SIGKILL)
            threading.Event().wait()

def before_the_commit(connection):
    events = store_emitted(connection)
    if moment == "before":
        die_if_hit()
    return events

def around_the_commit(self, batch):
    current.batch = batch
    events = run_once(self, batch)
    if moment == "after":
        die_if_hit()
    return events

store.Store._run_once, store.store_emitted = around_the_commit, before_the_commit
"""
WITH_FAILPOINTS = mutant(FAILPOINTS)


def set_failpoint(server: ServerProcess, failpoint: str | None) -> None:
    """Set the failpoint of the server's next start."""
    server.environment.pop("FAILPOINT", None)
    if failpoint is not None:
        server.environment["FAILPOINT"] = failpoint


async def die_at(
    server: ServerProcess, failpoint: str, work: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Let a dead server run until the failpoint kills it, and start it again without one."""
    set_failpoint(server, failpoint)
    await work_until_it_dies(server, work or _nothing)
    set_failpoint(server, None)
    server.start()


async def _nothing() -> None:
    """The server has enough to do by itself."""


async def work_until_it_dies(server: ServerProcess, work: Callable[[], Awaitable[None]]) -> None:
    """Start it and do some work again and again, until it has killed itself over it."""
    server.launch()
    try:
        server.wait_until_ready()
    except AssertionError:
        # Work left from its last run was enough: it died before it became ready.
        assert "Traceback" not in server.log(), server.log()
        return
    for _ in range(MOST_STEPS):
        with suppress(httpx2.TransportError):
            await work()
        with suppress(TimeoutExpired):
            assert server.process.wait(STEP_SECONDS) == -signal.SIGKILL
            server.kill()  # The process is gone already; this closes its pipe.
            return
    raise AssertionError("the server came through")
