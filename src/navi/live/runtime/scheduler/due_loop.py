"""One loop for everything that comes due. It admits inputs and never starts a turn.

It claims rows a little early, in short transactions, and hands their inputs to admission, which
begins their turns on time. Then it sleeps until shortly before the next row is due, a minute at
most. Every change that could make something due earlier wakes it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from navi.base.clock import Clock
from navi.base.errors import NaviError
from navi.live.runtime.service import Service
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.store.due.contract import (
    Claimed,
    DueKind,
    claim_one,
    next_instants_query,
    next_of_each,
)
from navi.live.store.engine.transactions import Store

BATCH = 128
"""Rows per transaction: enough to be fast, few enough not to hold up other transactions."""
LONGEST_SLEEP = timedelta(seconds=60)
LONGEST_STEP_SECONDS = 1.0
"""Sleep in steps, to notice that the machine was suspended or its clock was set."""
WAKE_LEAD = 0.75
"""How early to wake before a row is due, as a fraction of its lead. Less than the whole lead, so
that rows that are due close together are claimed together."""
FIRST_RETRY = timedelta(milliseconds=5)
LONGEST_RETRY = timedelta(seconds=1)
"""A due row that could not be claimed is in use; retry soon, then less often."""

log = logging.getLogger("navi.clock")


class DueLoop(Service):
    name = "clock"

    def __init__(
        self, store: Store, clock: Clock, kinds: Sequence[DueKind], admission: AdmissionService
    ) -> None:
        super().__init__()
        self._store = store
        self._clock = clock
        self._kinds = kinds
        self._admission = admission
        self._instants_query = next_instants_query(kinds)
        self._retry = FIRST_RETRY

    async def step(self) -> None:
        self._wake.clear()
        await self._sleep_until(await self.claim_due())

    async def claim_due(self) -> datetime:
        """Claim everything that may be claimed now. Returns when to check again."""
        while True:
            now = self._clock.now()
            instants = await self._read_instants(now)
            due = [kind for kind in self._kinds if _is_claimable(kind, instants, now)]
            if not due:
                self._retry = FIRST_RETRY
                wake_times = [at - WAKE_LEAD * kind.lead for kind, at in instants.items()]
                return min([*wake_times, now + LONGEST_SLEEP])
            count = sum([await self._claim_all(kind) for kind in due])
            if count == 0:
                retry_at = now + self._retry
                self._retry = min(2 * self._retry, LONGEST_RETRY)
                return retry_at

    async def _read_instants(self, now: datetime) -> dict[DueKind, datetime]:
        try:
            by_number = await self._store.transact(next_of_each, self._instants_query)
        except NaviError:
            raise
        except Exception:
            log.exception("can't read when the next rows are due; checking every kind")
            return dict.fromkeys(self._kinds, now)
        return {self._kinds[number]: at for number, at in by_number.items()}

    async def _claim_all(self, kind: DueKind) -> int:
        total, count = 0, BATCH
        while count == BATCH:
            count = await self._claim_batch(kind)
            total += count
        return total

    async def _claim_batch(self, kind: DueKind) -> int:
        """Claim a batch of rows in one transaction; if that fails, claim them one by one."""
        now = self._clock.now()
        until = now + kind.lead
        try:
            claimed = await self._store.transact(kind.claim, now, until, BATCH)
        except NaviError:
            raise
        except Exception:
            log.exception("can't claim due rows of kind %s together", kind.name)
            return await self._claim_one_by_one(kind, now, until)
        self._admission.expect(claimed)
        return claimed.count

    async def _claim_one_by_one(self, kind: DueKind, now: datetime, until: datetime) -> int:
        for count in range(BATCH):
            claimed: Claimed = await self._store.transact(claim_one, kind, now, until)
            if not claimed.count:
                return count
            self._admission.expect(claimed)
        return BATCH

    async def _sleep_until(self, end: datetime) -> None:
        while not self._wake.is_set:
            left = (end - self._clock.now()).total_seconds()
            if left <= 0:
                return
            await self._wake.wait(min(left, LONGEST_STEP_SECONDS))


def _is_claimable(kind: DueKind, instants: dict[DueKind, datetime], now: datetime) -> bool:
    at = instants.get(kind)
    return at is not None and at <= now + kind.lead
