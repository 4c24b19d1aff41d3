"""Station 1: an input becomes durable, whoever it comes from."""

from __future__ import annotations

from navi.domain.clock import Clock
from navi.domain.input import Admission, DeliveryMode, NewInput, require_text
from navi.domain.user import User
from navi.runtime.queue import Queue
from navi.runtime.turns import Turns
from navi.store import lanes
from navi.store import queue as stored
from navi.store.store import Store


class Admissions:
    def __init__(self, store: Store, clock: Clock, turns: Turns, queue: Queue) -> None:
        self._store = store
        self._clock = clock
        self._turns = turns
        self._queue = queue

    async def admit(self, sender: User, new: NewInput) -> Admission:
        """When this returns, the input survives anything. It may have begun its turn already."""
        require_text(new.text)
        if self._queue.has_room:
            # The usual case: admitted and begun at once, for the price of one transaction.
            admission = await self._turns.admit(new, sender)
        else:
            admission = await self._store.transact(stored.admit, new, self._clock.now(), sender)
            await self._store.transact(lanes.offer_work)
        if new.delivery_mode is DeliveryMode.URGENT and not admission.delivered:
            self._turns.interrupt(new.session_id)
        return admission
