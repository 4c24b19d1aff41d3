"""Station 2: which session may begin a turn, and when.

Sessions never wait for each other, except for room: one process runs a limited number of turns at
once. Every way in which a turn may become possible pokes the queue.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from navi.domain.errors import NaviError, NotFound
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
        self._is_only_recalls = False
        self._is_open = True
        turns.on_end = lambda session_id: self.poke()
        turns.on_told = self.poke

    def poke(self) -> None:
        """Something changed: look for sessions that can begin a turn."""
        self._is_only_recalls = False
        self._poked.set()

    def poke_for_recalls(self) -> None:
        """Recalls were admitted and nothing else changed: while others run, that costs nothing."""
        self._poked.set()

    def close(self) -> None:
        """Begin no more turns."""
        self._is_open = False

    @property
    def has_room(self) -> bool:
        """Whether a turn that is nobody's recall could begin now."""
        return self._is_open and self._room.left(is_recall=False) > 0

    async def run(self) -> None:
        while True:
            try:
                # Not wait_for, which can swallow a cancellation that comes with the poke.
                async with asyncio.timeout(LOOK_AGAIN_SECONDS):
                    await self._poked.wait()
            except TimeoutError:
                self._is_only_recalls = False
            self._poked.clear()
            is_only_recalls, self._is_only_recalls = self._is_only_recalls, True
            try:
                await self._begin_ready(is_only_recalls)
            except NaviError as error:
                log.warning("can't look for waiting inputs: %s", error.message)

    async def _begin_ready(self, is_only_recalls: bool) -> None:
        room = 0 if is_only_recalls else self._room.left(is_recall=False)
        recall_room = self._room.left(is_recall=True)
        if not self._is_open or max(room, recall_room) <= 0:
            return
        for session_id in await self._store.transact(lanes.ready, room, recall_room):
            # Deleted in the meantime: nothing to do any more.
            with suppress(NotFound):
                await self._turns.begin(session_id)
