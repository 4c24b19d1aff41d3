"""One loop for everything that is due. It never starts a turn: it admits inputs.

It sleeps until the earliest due row, a minute at the most, and is woken by every change that
could make something due earlier: at once in this process, through a signal from another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from navi.domain.clock import Clock
from navi.domain.errors import NaviError
from navi.domain.event import Event
from navi.store.coming import Coming, coming_of_each, question
from navi.store.store import Store

LONGEST_SLEEP = timedelta(seconds=60)
LONGEST_STEP_SECONDS = 1.0
"""Sleeping takes several steps: the machine may be suspended, or its clock be set, meanwhile."""
PASSED_OVER = timedelta(milliseconds=5)
"""What was due and not claimed belongs to a session that somebody is writing to just now."""
TRY_AGAIN = timedelta(seconds=1)
AHEAD = timedelta(seconds=1)
"""So long before its time, what comes next is made ready, and only writing is left to do then."""
TRUSTED = timedelta(seconds=1)
"""So long the store's answer is believed, unless somebody tells of a change: of many that are due
one after the other, not each is asked for."""
SURE_PART = 0.9
"""A long sleep wakes a little late, so the last part of it is slept separately."""
WAKING = {
    "recall_update": "recall",
    "automation_update": "automation",
    "remind_update": "remind",
    "reminder_update": "reminder",
}
"""Events after which something may be due earlier, and what they then name."""

log = logging.getLogger("navi.clock")


class Kind(Protocol):
    """Things of one kind that come due."""

    coming: Coming
    """Asks the store when the next of them are due."""

    async def make_ready(self, next_at: datetime) -> None:
        """Something is due in a moment: do now what can be done before."""

    async def fire(self) -> int:
        """Admit all that is due now; returns how many that were."""


class DueLoop:
    """`on_fired` is called with the kind of which inputs were admitted."""

    def __init__(
        self, store: Store, clock: Clock, kinds: Sequence[Kind], on_fired: Callable[[Kind], None]
    ) -> None:
        self._store = store
        self._clock = clock
        self._kinds = kinds
        self._asked = [kind.coming for kind in kinds]
        self._question = question(self._asked)
        self._on_fired = on_fired
        # When the next of each kind are due. Until the store was asked, that may be now.
        self._coming = [[clock.now()] for _ in kinds]
        self._has_more = [True for _ in kinds]
        self._asked_at = clock.now() - TRUSTED
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Something may be due earlier than was known."""
        self._woken.set()

    def notice(self, events: Sequence[Event]) -> None:
        """Called with every stored event of this process."""
        for event in events:
            if (subject := WAKING.get(event.type)) and event.payload[subject]:
                self.wake()
                return

    async def run(self) -> None:
        while True:
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
        """Fire what is known to be due, and learn what is next; when to look again."""
        was_woken = self._woken.is_set()
        self._woken.clear()
        now = self._clock.now()
        due = [sum(moment <= now for moment in moments) for moments in self._coming]
        fired = await self.fire_due(
            [kind for kind, count in zip(self._kinds, due, strict=True) if count]
        )
        self._coming = [moments[count:] for moments, count in zip(self._coming, due, strict=True)]
        # Fewer than were known: somebody writes to their sessions just now.
        is_sure = not was_woken and fired >= sum(due)
        if not (is_sure and self._knows_next()):
            await self._ask()
        next_at = min((moments[0] for moments in self._coming if moments), default=None)
        if next_at is None:
            return None
        now = self._clock.now()
        if next_at <= now:
            return now + PASSED_OVER if any(due) and not fired else now
        if next_at > now + AHEAD:
            return next_at - AHEAD
        for kind, moments in zip(self._kinds, self._coming, strict=True):
            if moments and moments[0] == next_at:
                await kind.make_ready(next_at)
        return next_at

    async def fire_due(self, kinds: Sequence[Kind]) -> int:
        """Admit what is due now of these kinds; how many.

        The others cost nothing: with many recalls spread over time, that keeps each on time.
        """
        fired = await asyncio.gather(*(kind.fire() for kind in kinds))
        for kind, count in zip(kinds, fired, strict=True):
            if count:
                self._on_fired(kind)
        return sum(fired)

    def _knows_next(self) -> bool:
        """Whether the store's last answer still tells what is next."""
        has_run_out = any(
            has_more and not moments
            for has_more, moments in zip(self._has_more, self._coming, strict=True)
        )
        # The clock may have been set back.
        return not has_run_out and self._asked_at <= self._clock.now() < self._asked_at + TRUSTED

    async def _ask(self) -> None:
        asked_at = self._clock.now()
        self._coming = await self._store.transact(coming_of_each, self._question, self._asked)
        self._asked_at = asked_at
        self._has_more = [
            len(moments) == kind.most
            for moments, kind in zip(self._coming, self._asked, strict=True)
        ]

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
