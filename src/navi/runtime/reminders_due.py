"""Reminders on the clock: nudges of agents that have not reported, and reminders for once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from navi.domain.clock import Clock
from navi.domain.reminder import Fired
from navi.runtime.turns import Turns
from navi.store import reminders, scheduled_reminders
from navi.store.store import Store

BATCH = 64


class _Due:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        turns: Turns,
        fire: Callable[[Any, datetime, int], Fired],
    ) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns
        self._fire = fire

    async def make_ready(self, next_at: datetime) -> None:
        """There is nothing worth doing ahead: they are few, and a moment does not matter."""

    async def fire(self) -> int:
        count = 0
        while True:
            fired = await self._store.transact(self._fire, self._clock.now(), BATCH)
            count += fired.count
            for session_id, turn_id in fired.interrupted:
                # Another process hears of it through the store.
                if self._turns.is_ours(turn_id):
                    self._turns.interrupt(session_id)
            if fired.count < BATCH:
                return count


class NudgesDue(_Due):
    coming = reminders.COMING

    def __init__(self, store: Store, clock: Clock, turns: Turns) -> None:
        super().__init__(store, clock, turns, reminders.fire)


class RemindersDue(_Due):
    coming = scheduled_reminders.COMING

    def __init__(self, store: Store, clock: Clock, turns: Turns) -> None:
        super().__init__(store, clock, turns, scheduled_reminders.fire)
