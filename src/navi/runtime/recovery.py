"""Leases, requests to stop, and turns whose process died."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from navi.domain.clock import Clock
from navi.domain.errors import NaviError
from navi.domain.turn import RunningTurn
from navi.runtime.owner import is_surely_dead
from navi.runtime.queue import Queue
from navi.runtime.turns import Turns
from navi.store import lanes
from navi.store import turns as stored
from navi.store.store import Store

LOOKS_PER_LEASE = 8

log = logging.getLogger("navi.recovery")


class Recovery:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: str,
        turns: Turns,
        queue: Queue,
        lease: timedelta,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._turns = turns
        self._queue = queue
        self._lease = lease

    async def run(self) -> None:
        """Look after the running turns, ours and others', several times per lease."""
        while True:
            await asyncio.sleep(self._lease.total_seconds() / LOOKS_PER_LEASE)
            try:
                await self.look()
            except NaviError as error:
                log.warning("can't look after the running turns: %s", error.message)

    async def look(self) -> None:
        now = self._clock.now()
        at_work = self._turns.at_work()
        await self._store.transact(lanes.renew, self._owner, now + self._lease)
        running = await self._store.transact(lanes.running)
        for turn in running:
            if turn.owner == self._owner and self._turns.is_ours(turn.id):
                if turn.stop_reason is not None:
                    self._turns.interrupt(turn.session_id)
            elif self._is_dead(turn):
                await self._close(turn)
        owned = {turn.id for turn in running if turn.owner == self._owner}
        for turn_id in at_work & self._turns.at_work() - owned:
            self._turns.abandon(turn_id)

    async def stop_requested(self, session_id: str) -> None:
        """Another process asked for a stop: end the turn if it is ours."""
        for turn in await self._store.transact(lanes.running, [session_id]):
            if turn.owner == self._owner and turn.stop_reason is not None:
                self._turns.interrupt(session_id)

    def _is_dead(self, turn: RunningTurn) -> bool:
        if turn.owner == self._owner:
            # Ours in the store but not in this process: its end could not be written.
            return not self._turns.is_ours(turn.id)
        return turn.lease_until < self._clock.now() or is_surely_dead(turn.owner)

    async def _close(self, turn: RunningTurn) -> None:
        if await self._turns.take_over(turn):
            log.warning("took over turn %s of session %s", turn.id, turn.session_id)
            return
        if await self._store.transact(stored.close_dead, turn, self._clock.now()):
            log.warning(
                "closed turn %s of session %s: its server is gone", turn.id, turn.session_id
            )
            self._queue.poke()
