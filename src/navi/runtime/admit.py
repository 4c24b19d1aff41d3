"""Station 1: an input becomes durable, whoever it comes from."""

from __future__ import annotations

from dataclasses import replace

from navi.domain.clock import Clock
from navi.domain.input import Admission, DeliveryMode, NewInput, require_text
from navi.domain.user import User
from navi.runtime.queue import Queue
from navi.runtime.turns import Turns
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
        admission = await self._store.transact(stored.admit, new, self._clock.now(), sender)
        if admission.delivered:
            return admission
        if new.delivery_mode is DeliveryMode.URGENT:
            self._turns.interrupt(new.session_id)
        turn = await self._queue.begin(new.session_id)
        if turn is not None and turn.input.id == new.id:
            return replace(admission, delivered=True, position=0)
        return admission
