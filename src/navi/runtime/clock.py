"""One loop for everything that is due. It never starts a turn: it admits inputs.

It sleeps until the earliest due row, a minute at the most, and is woken by every change that
could make something due earlier: at once in this process, through a signal from another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from navi.domain.clock import Clock
from navi.domain.errors import NaviError, NotFound
from navi.domain.event import Event
from navi.runtime.queue import Queue
from navi.runtime.recalls import compose
from navi.store import recalls
from navi.store.store import Store

LONGEST_SLEEP = timedelta(seconds=60)
BATCH = 256
SURE_PART = 0.9
"""A long sleep wakes a little late, so the last part of it is slept separately."""

log = logging.getLogger("navi.clock")


class DueLoop:
    def __init__(self, store: Store, clock: Clock, queue: Queue) -> None:
        self._store = store
        self._clock = clock
        self._queue = queue
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Something may be due earlier than was known."""
        self._woken.set()

    def notice(self, events: Sequence[Event]) -> None:
        """Called with every stored event of this process."""
        if any(event.type == "recall_update" for event in events):
            self.wake()

    async def run(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self.fire_due()
                next_at = await self._store.transact(recalls.earliest)
            except NaviError as error:
                log.warning("can't look for what is due: %s", error.message)
                next_at = self._clock.now() + timedelta(seconds=1)
            await self._sleep_until(next_at)

    async def fire_due(self) -> int:
        """Admit everything that is due now; returns how many inputs that made."""
        fired = 0
        while True:
            now = self._clock.now()
            sessions = await self._store.transact(recalls.due, now, BATCH)
            if not sessions:
                return fired
            outcomes = await asyncio.gather(*(self._fire(each, now) for each in sessions))
            fired += sum(outcomes)
            self._queue.poke()

    async def _fire(self, session_id: str, now: datetime) -> bool:
        try:
            return await self._store.transact(recalls.fire, session_id, now, compose)
        except NotFound:
            # Deleted in this very moment, and its recall with it.
            return False

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
                async with asyncio.timeout(step):
                    await self._woken.wait()
            except TimeoutError:
                pass
