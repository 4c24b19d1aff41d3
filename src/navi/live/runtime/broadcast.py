"""Sends stored events to all watching clients.

Watchers pull: each one requests the events after the last one it received, from memory if possible
and else from the store, and waits if there are none. A slow watcher delays nobody, one that
reconnects misses nothing, and a new event is not encoded again for each watcher.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from navi.base.errors import NaviError
from navi.live.model.access.user import User
from navi.live.model.event import Event
from navi.live.model.wire_format import event_json
from navi.live.runtime.service import Service
from navi.live.store import events
from navi.live.store.engine.transactions import Store

TAIL_LENGTH = 2048
"""Frames kept in memory per watched session; a watcher further behind reads the store."""
READ_LIMIT = 500
CHECK_SECONDS = 5.0
"""How late an event may be sent if another process's signal got lost."""
TRY_AGAIN_SECONDS = 1.0

log = logging.getLogger("navi.broadcast")


@dataclass(frozen=True, slots=True)
class Frame:
    """An event as it is sent. `number` is its `seq` in a session's tail, else its `position`."""

    number: int
    user_id: str
    type: str
    text: str


Read = Callable[[int], Awaitable[list[Frame]]]
"""Reads the frames after a number from the store."""


class Tail:
    """The newest frames of one session, or of all sessions.

    Events stored by this process are appended. Events stored by other processes are read once for
    all watchers.
    """

    def __init__(self, read: Read) -> None:
        self.read = read
        self.watchers = 0
        self.generation = 0
        self._frames: deque[Frame] = deque(maxlen=TAIL_LENGTH)
        self._last: int | None = None
        """Frames up to this number were added, or are older than this tail. None at first."""
        self._read_requests = 0
        """Counts requests to read, so that a request during one read triggers another read."""
        self._reading: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def append(self, frame: Frame) -> None:
        if self._last is None or frame.number == self._last + 1:
            self._add([frame])
        else:
            # The frame is a duplicate, or another process's events are missing before it.
            self.announce(frame.number)

    def announce(self, number: int) -> None:
        """Read the missing frames: the store has them up to `number`."""
        if self._last is None:
            self._last = number - 1
        if number > self._last:
            self._start_reading()

    def check_store(self) -> None:
        """Look for frames in the store that no signal announced."""
        if self._last is None:
            self._notify_watchers()
        else:
            self._start_reading()

    def after(self, number: int) -> list[Frame] | None:
        """The frames after `number`; None if they may not all be in memory."""
        if self._last is None or number < self._last - len(self._frames):
            return None
        return list(islice(self._frames, max(0, number - self._last + len(self._frames)), None))

    async def wait_for_change(self, generation: int) -> None:
        """Wait until `self.generation` is no longer `generation`: there may be new frames."""
        if self.generation == generation:
            await self._changed.wait()

    def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()

    def _start_reading(self) -> None:
        self._read_requests += 1
        if self._reading is None:
            self._reading = asyncio.create_task(self._catch_up(), name="broadcast tail")

    async def _catch_up(self) -> None:
        while True:
            requests = self._read_requests
            try:
                frames = await self.read(self._last or 0)
            except Exception as error:  # try again even after a bug: the watchers need the events
                is_bug = not isinstance(error, NaviError)
                log.warning("can't read the newest events: %s", error, exc_info=is_bug)
                await asyncio.sleep(TRY_AGAIN_SECONDS)
                continue
            self._add([frame for frame in frames if frame.number > (self._last or 0)])
            if not frames and requests == self._read_requests:
                self._reading = None
                return

    def _add(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            if frame.number - 1 != self._last:
                # The missing events were deleted with their session.
                self._frames.clear()
            self._frames.append(frame)
            self._last = frame.number
        if frames:
            self._notify_watchers()

    def _notify_watchers(self) -> None:
        self.generation += 1
        self._changed.set()
        self._changed = asyncio.Event()


class Broadcast(Service):
    name = "broadcast"

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._sessions: dict[str, Tail] = {}
        self._all = Tail(self._read_all)
        self._position = 0

    async def step(self) -> None:
        """Look for stored events that no signal announced.

        All watchers share one timer: a timer for each would cost more than sending their frames.
        """
        await self._wake.wait(CHECK_SECONDS)
        position = await self.last_position()
        if position > self._position:
            self._position = position
            self.check_store()

    def publish(self, events: Sequence[Event]) -> None:
        """Pass on events that this process has just committed."""
        self._position = max(self._position, events[-1].position)
        for event in events:
            tail = self._sessions.get(event.session_id)
            if tail is None and self._all.watchers == 0:
                continue
            text = _text(event)
            if tail is not None:
                tail.append(Frame(event.seq, event.user_id, event.type, text))
            if self._all.watchers:
                self._all.append(Frame(event.position, event.user_id, event.type, text))

    def announce(self, session_id: str, seq: int, position: int) -> None:
        """Read the events that another process has stored, up to these numbers."""
        self._position = max(self._position, position)
        if tail := self._sessions.get(session_id):
            tail.announce(seq)
        if self._all.watchers:
            self._all.announce(position)

    def check_store(self) -> None:
        for tail in [self._all, *self._sessions.values()]:
            tail.check_store()

    async def last_seq(self, session_id: str) -> int:
        return await self._store.transact(events.last_seq, session_id)

    async def last_position(self) -> int:
        return await self._store.transact(events.last_position)

    async def follow_session(
        self, session_id: str, after: int
    ) -> AsyncGenerator[Sequence[Frame], None]:
        """Yield the session's events after this sequence number, including future ones."""

        async def read(number: int) -> list[Frame]:
            newer = await self._store.transact(events.read_session, session_id, number, READ_LIMIT)
            return [_frame(event, event.seq) for event in newer]

        tail = self._sessions.setdefault(session_id, Tail(read))
        tail.watchers += 1
        try:
            async for frames in _follow(tail, after):
                yield frames
        finally:
            tail.watchers -= 1
            if tail.watchers == 0:
                tail.close()
                self._sessions.pop(session_id, None)

    async def follow_all(self, user: User, after: int) -> AsyncGenerator[Sequence[Frame], None]:
        """Yield the events after this position that the user may see, including future ones."""
        tail = self._all
        tail.watchers += 1
        try:
            async for frames in _follow(tail, after):
                if visible := [frame for frame in frames if user.may_touch(frame.user_id)]:
                    yield visible
        finally:
            tail.watchers -= 1
            if tail.watchers == 0:
                tail.close()
                self._all = Tail(self._read_all)

    async def _read_all(self, number: int) -> list[Frame]:
        newer = await self._store.transact(events.read_all, number, READ_LIMIT)
        return [_frame(event, event.position) for event in newer]


async def _follow(tail: Tail, after: int) -> AsyncGenerator[Sequence[Frame], None]:
    last = after
    while True:
        generation = tail.generation
        frames = tail.after(last)
        if frames is None:
            frames = await tail.read(last)
        if frames:
            last = frames[-1].number
            yield frames
        else:
            await tail.wait_for_change(generation)


def _frame(event: Event, number: int) -> Frame:
    return Frame(number, event.user_id, event.type, _text(event))


def _text(event: Event) -> str:
    return msgspec.json.encode(event_json(event)).decode()
