"""One loop for everything that is due. It never starts a turn: it admits inputs.

It sleeps until the earliest due row, a minute at the most, and is woken by every change that
could make something due earlier: at once in this process, through a signal from another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from navi.domain.clock import Clock
from navi.domain.errors import NaviError
from navi.domain.event import Event
from navi.domain.recall import Recall
from navi.runtime.recalls import compose
from navi.store import due, recalls
from navi.store.store import Store

LONGEST_SLEEP = timedelta(seconds=60)
LONGEST_STEP_SECONDS = 1.0
"""Sleeping takes several steps: the machine may be suspended, or its clock be set, meanwhile."""
PASSED_OVER = timedelta(milliseconds=5)
"""What was due and not claimed belongs to a session that somebody is writing to just now."""
TRY_AGAIN = timedelta(seconds=1)
BATCH = 256
AHEAD = timedelta(seconds=1)
"""So long before its time, what comes next is made ready, and only writing is left to do then."""
AT_ONCE = timedelta(milliseconds=50)
"""What follows so closely belongs to it. With less time than that, making ready would be late."""
AHEAD_LIMIT = 4096
SURE_PART = 0.9
"""A long sleep wakes a little late, so the last part of it is slept separately."""

log = logging.getLogger("navi.clock")


class DueLoop:
    """`on_fired` is called when inputs were admitted."""

    def __init__(self, store: Store, clock: Clock, on_fired: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._on_fired = on_fired
        # PostgreSQL works for one while we prepare the next; SQLite has one writer anyway.
        self._side_by_side = 2 if store.kind == "postgresql" else 1
        self._woken = asyncio.Event()
        self._ready: dict[str, due.Ready] = {}
        self._ready_until = clock.now()

    def wake(self) -> None:
        """Something may be due earlier than was known."""
        self._woken.set()

    def notice(self, events: Sequence[Event]) -> None:
        """Called with every stored event of this process."""
        if any(event.type == "recall_update" and event.payload["recall"] for event in events):
            self.wake()

    async def run(self) -> None:
        while True:
            self._woken.clear()
            try:
                next_at = await self.look()
            except NaviError as error:
                log.warning("can't look for what is due: %s", error.message)
                next_at = self._clock.now() + TRY_AGAIN
            except Exception:
                # Whatever it is: a clock that stops would fail silently for ever after.
                log.exception("can't fire what is due")
                next_at = self._clock.now() + TRY_AGAIN
            await self._sleep_until(next_at)

    async def look(self) -> datetime | None:
        """Fire what is due; when to look again."""
        fired = await self.fire_due()
        next_at = await self._store.transact(recalls.earliest)
        if next_at is None:
            return None
        now = self._clock.now()
        if next_at <= now:
            return now if fired else now + PASSED_OVER
        if next_at > now + AHEAD:
            return next_at - AHEAD
        if next_at > max(self._ready_until, now + AT_ONCE):
            await self._make_ready(now, next_at + AT_ONCE)
        return next_at

    async def _make_ready(self, now: datetime, until: datetime) -> None:
        upcoming = await self._store.transact(due.upcoming, now, until, AHEAD_LIMIT)
        # In a thread: a thousand of them would hold up everybody else.
        self._ready = await asyncio.to_thread(_composed, upcoming)
        self._ready_until = until

    async def fire_due(self) -> int:
        """Admit everything that is due now; returns how many recalls that were."""
        fired = sum(await asyncio.gather(*(self._fire_all() for _ in range(self._side_by_side))))
        if fired:
            self._on_fired()
        return fired

    async def _fire_all(self) -> int:
        fired = 0
        while True:
            now = self._clock.now()
            seen = await self._store.transact(due.fire, now, BATCH, compose, self._ready)
            fired += seen
            if seen < BATCH:
                return fired

    async def _sleep_until(self, next_at: datetime | None) -> None:
        end = self._clock.now() + LONGEST_SLEEP
        if next_at is not None:
            end = min(end, next_at)
        while not self._woken.is_set():
            left = (end - self._clock.now()).total_seconds()
            if left <= 0:
                return
            step = left * SURE_PART if left > 0.05 else left
            try:
                async with asyncio.timeout(min(step, LONGEST_STEP_SECONDS)):
                    await self._woken.wait()
            except TimeoutError:
                pass


def _composed(upcoming: Sequence[Recall]) -> dict[str, due.Ready]:
    return {
        recall.id: due.Ready(recall.updated_at, compose(recall, recall.due_at, missed=0))
        for recall in upcoming
    }
