"""Recalls on the clock: made ready a moment ahead, fired many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from navi.domain.clock import Clock
from navi.domain.recall import Recall
from navi.runtime.recalls import compose
from navi.store import due, recalls
from navi.store.store import Store

BATCH = 256
AT_ONCE = timedelta(milliseconds=50)
"""What follows so closely belongs to it. With less time than that, making ready would be late."""
AHEAD_LIMIT = 4096


class RecallsDue:
    earliest = staticmethod(recalls.earliest)

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        # PostgreSQL works for one while we prepare the next; SQLite has one writer anyway.
        self._side_by_side = 2 if store.kind == "postgresql" else 1
        self._ready: dict[str, due.Ready] = {}
        self._ready_until = clock.now()

    async def make_ready(self, next_at: datetime) -> None:
        now = self._clock.now()
        if next_at <= max(self._ready_until, now + AT_ONCE):
            return
        until = next_at + AT_ONCE
        upcoming = await self._store.transact(due.upcoming, now, until, AHEAD_LIMIT)
        # In a thread: a thousand of them would hold up everybody else.
        self._ready = await asyncio.to_thread(_composed, upcoming)
        self._ready_until = until

    async def fire(self) -> int:
        return sum(await asyncio.gather(*(self._fire_all() for _ in range(self._side_by_side))))

    async def _fire_all(self) -> int:
        fired = 0
        while True:
            now = self._clock.now()
            seen = await self._store.transact(due.fire, now, BATCH, compose, self._ready)
            fired += seen
            if seen < BATCH:
                return fired


def _composed(upcoming: Sequence[Recall]) -> dict[str, due.Ready]:
    return {
        recall.id: due.Ready(recall.updated_at, compose(recall, recall.due_at, missed=0))
        for recall in upcoming
    }
