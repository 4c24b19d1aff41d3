"""Station 2: which session may begin a turn, and when.

Sessions never wait for each other, except for room: one process runs a limited number of turns at
once. Every way in which a turn may become possible pokes the queue.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from navi.domain.errors import NaviError, NotFound
from navi.domain.turn import Turn
from navi.runtime.room import Room
from navi.runtime.turns import Turns
from navi.store import lanes
from navi.store.store import Store

LOOK_AGAIN_SECONDS = 1.0
"""Upper bound of the delay for what no poke told of, such as another process's leftovers."""

log = logging.getLogger("navi.queue")


class Queue:
    def __init__(self, store: Store, turns: Turns, room: Room) -> None:
        self._store = store
        self._turns = turns
        self._room = room
        self._poked = asyncio.Event()
        self._is_open = True
        turns.on_end = lambda session_id: self.poke()

    def poke(self) -> None:
        """Something changed: look for sessions that can begin a turn."""
        self._poked.set()

    def close(self) -> None:
        """Begin no more turns."""
        self._is_open = False

    async def begin(self, session_id: str) -> Turn | None:
        """Begin the session's next turn right now, if it may."""
        if not self._is_open:
            return None
        if self._room.left(is_recall=False) <= 0:
            await self._store.transact(lanes.offer_work)
            return None
        return await self._turns.begin(session_id)

    async def run(self) -> None:
        while True:
            with suppress(TimeoutError):
                # Not wait_for, which can swallow a cancellation that comes with the poke.
                async with asyncio.timeout(LOOK_AGAIN_SECONDS):
                    await self._poked.wait()
            self._poked.clear()
            try:
                await self._begin_ready(is_recall=False)
                await self._begin_ready(is_recall=True)
            except NaviError as error:
                log.warning("can't look for waiting inputs: %s", error.message)

    async def _begin_ready(self, *, is_recall: bool) -> None:
        room = self._room.left(is_recall=is_recall)
        if room <= 0 or not self._is_open:
            return
        ready = await self._store.transact(lanes.ready, room, is_recall=is_recall)
        for session_id in ready:
            # Deleted in the meantime: nothing to do any more.
            with suppress(NotFound):
                await self._turns.begin(session_id)
