"""Recalls on the clock: made ready a moment ahead, fired many at once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from navi.domain.clock import Clock
from navi.domain.recall import Recall
from navi.runtime.recalls import compose
from navi.store import due, recalls
from navi.store.store import Store

BATCH = 512
AT_ONCE = timedelta(milliseconds=50)
"""What follows so closely belongs to it. With less time than that, making ready would be late."""
AHEAD_LIMIT = 4096
CROWD = 32
"""So many due together are written before their instant, and only committed at it. In PostgreSQL,
where nobody but their own sessions waits for that, every single one is."""
CROWD_LIMIT = 1024
LEAD_FIXED = {
    "sqlite": timedelta(milliseconds=10),
    "postgresql": timedelta(milliseconds=20),
}
LEAD_EACH = {
    "sqlite": timedelta(microseconds=80),
    "postgresql": timedelta(microseconds=120),
}
"""How long before the instant the writing begins. Their sessions, and with SQLite all, wait for
the store meanwhile: as long as they would otherwise wait after it. In PostgreSQL there is time for
a machine that does something else for a moment."""

log = logging.getLogger("navi.clock")


class RecallsDue:
    """`on_fired` is called when something was admitted at its instant and nobody waits for that."""

    coming = recalls.COMING

    def __init__(self, store: Store, clock: Clock, on_fired: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._on_fired = on_fired
        # PostgreSQL works for one while we prepare the next; SQLite has one writer anyway.
        self._side_by_side, self._least = (2, 1) if store.kind == "postgresql" else (1, CROWD)
        self._lead_fixed, self._lead_each = LEAD_FIXED[store.kind], LEAD_EACH[store.kind]
        self._ready: dict[str, due.Ready] = {}
        self._ready_until = clock.now()
        self._planned: dict[datetime, asyncio.TimerHandle] = {}
        self._early: dict[datetime, asyncio.Task[int]] = {}

    async def make_ready(self, next_at: datetime) -> None:
        now = self._clock.now()
        together = 1
        if next_at > max(self._ready_until, now + AT_ONCE):
            until = next_at + AT_ONCE
            upcoming = await self._store.transact(due.upcoming, now, until, AHEAD_LIMIT)
            # In a thread: a thousand of them would hold up everybody else.
            self._ready = await asyncio.to_thread(_composed, upcoming)
            self._ready_until = until
            together = sum(recall.trigger_at == next_at for recall in upcoming)
        if together >= self._least and not (next_at in self._planned or next_at in self._early):
            lead = self._lead(together)
            left = (next_at - lead - self._clock.now()).total_seconds()
            loop = asyncio.get_running_loop()
            self._planned[next_at] = loop.call_later(left, self._begin_early, next_at)

    async def fire(self) -> int:
        now = self._clock.now()
        for at in [at for at in self._planned if at <= now]:
            # The clock was set forward, or the machine was busy: there is nothing left to gain.
            self._planned.pop(at).cancel()
        begun = [self._early.pop(at) for at in sorted(self._early) if at <= now]
        fired = sum([await task for task in begun])
        if 0 < fired < BATCH:
            return fired
        seen = await self._fire_some()
        fired += seen
        if seen == BATCH:
            at_once = (self._fire_all() for _ in range(self._side_by_side))
            fired += sum(await asyncio.gather(*at_once))
        return fired

    async def _fire_all(self) -> int:
        fired = 0
        while True:
            seen = await self._fire_some()
            fired += seen
            if seen < BATCH:
                return fired

    async def _fire_some(self) -> int:
        now = self._clock.now()
        return await self._store.transact(due.fire, now, BATCH, compose, self._ready)

    def _lead(self, together: int) -> timedelta:
        return self._lead_fixed + min(together, CROWD_LIMIT) * self._lead_each

    def _begin_early(self, at: datetime) -> None:
        del self._planned[at]
        self._early[at] = asyncio.create_task(self._fire_early(at))

    async def _fire_early(self, at: datetime) -> int:
        """Have all that is due at the instant written by then, so that it only has to be committed.

        Whatever goes wrong here, `fire` finds them due as if nobody had tried.
        """
        try:
            fired = await self._store.transact(
                due.fire, at, CROWD_LIMIT, compose, self._ready, self._waiting(at)
            )
        except Exception as error:
            log.warning("recalls could not be fired ahead of their time: %s", error)
            return 0
        if self._early.pop(at, None) and fired:
            # The loop did not take this up in time, and finds nothing pending any more.
            self._on_fired()
        return fired

    def _waiting(self, at: datetime) -> due.Wait:
        longest = 2 * self._lead(CROWD_LIMIT).total_seconds()

        def wait(ahead: timedelta) -> None:
            """Called in a worker of the store, inside the transaction."""
            give_up_at = time.monotonic() + longest
            while (left := (at - ahead - self._clock.now()).total_seconds()) > 0:
                if time.monotonic() + left > give_up_at:
                    # Nothing may happen before its time, and nobody be locked out for long.
                    raise ClockSetBack(f"it is {left:.1f} s too early")
                time.sleep(left)

        return wait


class ClockSetBack(Exception):
    """The instant is further away than it was."""


def _composed(upcoming: Sequence[Recall]) -> dict[str, due.Ready]:
    return {recall.id: due.make_ready(recall, compose) for recall in upcoming}
