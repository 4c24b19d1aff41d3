"""Stored events, told to whoever watches.

A watcher pulls: it asks for what comes after the last event it has seen, is served from memory
where possible and from the store where not, and waits when there is nothing. So a slow watcher
holds up nobody, one that comes back misses nothing, and a frame is encoded once for all.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from navi.domain.event import Event
from navi.domain.user import User
from navi.domain.wire import event_json
from navi.store import events as stored
from navi.store.store import Store

TAIL_LENGTH = 2048
"""Frames kept in memory per watched session; whoever is further behind reads the store."""
READ_LIMIT = 500
LOOK_AGAIN_SECONDS = 5.0
"""Upper bound of the delay if another process's signal got lost."""


@dataclass(frozen=True, slots=True)
class Frame:
    """An event as it goes over the wire, at its place in a tail."""

    number: int
    user_id: str
    text: str


class Tail:
    """The newest frames of one stream, numbered without gaps."""

    def __init__(self) -> None:
        self.watchers = 0
        self.generation = 0
        self._frames: deque[Frame] = deque(maxlen=TAIL_LENGTH)
        self._known = 0
        self._changed = asyncio.Event()

    def append(self, frame: Frame) -> None:
        last = self._frames[-1].number if self._frames else None
        if last is not None and frame.number <= last:
            return
        if last is not None and frame.number > last + 1:
            # Another process's events lie between: the store has them all, in order.
            self._frames.clear()
        self._frames.append(frame)
        self.announce(frame.number)

    def announce(self, number: int) -> None:
        """Something up to `number` exists, here or in the store."""
        if number > self._known:
            self._known = number
            self._wake()

    def look_again(self) -> None:
        """Something may have been missed: every watcher looks into the store."""
        self._frames.clear()
        self._wake()

    def after(self, number: int) -> list[Frame] | None:
        """The frames that follow; None if memory can't tell."""
        if not self._frames or number < self._frames[0].number - 1:
            return None
        if number >= self._frames[-1].number:
            return [] if self._known == number else None
        return list(islice(self._frames, number - self._frames[0].number + 1, None))

    async def changed(self, generation: int) -> bool:
        """Wait for something new since `generation`; False if that took too long."""
        if self.generation == generation:
            try:
                async with asyncio.timeout(LOOK_AGAIN_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                return False
        return True

    def _wake(self) -> None:
        self.generation += 1
        self._changed.set()
        self._changed = asyncio.Event()


class Feed:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._sessions: dict[str, Tail] = {}
        self._all = Tail()

    def publish(self, events: Sequence[Event]) -> None:
        """Called with every event right after its commit."""
        for event in events:
            tail = self._sessions.get(event.session_id)
            if tail is None and self._all.watchers == 0:
                continue
            text = json.dumps(event_json(event), separators=(",", ":"))
            if tail is not None:
                tail.append(Frame(event.seq, event.user_id, text))
            if self._all.watchers:
                self._all.append(Frame(event.position, event.user_id, text))

    def announce(self, session_id: str, seq: int, position: int) -> None:
        """Another process stored events."""
        if tail := self._sessions.get(session_id):
            tail.announce(seq)
        self._all.announce(position)

    def look_again(self) -> None:
        for tail in [self._all, *self._sessions.values()]:
            tail.look_again()

    async def last_seq(self, session_id: str) -> int:
        return await self._store.transact(stored.last_seq, session_id)

    async def last_position(self) -> int:
        return await self._store.transact(stored.last_position)

    async def session(self, session_id: str, after: int) -> AsyncGenerator[Sequence[Frame], None]:
        """Everything that happened in the session after this sequence number, and goes on."""
        tail = self._sessions.setdefault(session_id, Tail())

        async def read(number: int) -> list[Frame]:
            found = await self._store.transact(stored.read_session, session_id, number, READ_LIMIT)
            return [_frame(event, event.seq) for event in found]

        tail.watchers += 1
        try:
            async for frames in _follow(tail, read, after):
                yield frames
        finally:
            tail.watchers -= 1
            if tail.watchers == 0:
                self._sessions.pop(session_id, None)

    async def all(self, user: User, after: int) -> AsyncGenerator[Sequence[Frame], None]:
        """Everything the user may see after this position, and goes on."""

        async def read(number: int) -> list[Frame]:
            found = await self._store.transact(stored.read_all, number, READ_LIMIT)
            return [_frame(event, event.position) for event in found]

        self._all.watchers += 1
        try:
            async for frames in _follow(self._all, read, after):
                if seen := [frame for frame in frames if user.may_touch(frame.user_id)]:
                    yield seen
        finally:
            self._all.watchers -= 1
            if self._all.watchers == 0:
                self._all = Tail()


async def _follow(
    tail: Tail, read: Callable[[int], Awaitable[list[Frame]]], after: int
) -> AsyncGenerator[Sequence[Frame], None]:
    seen = after
    in_doubt = False
    while True:
        generation = tail.generation
        frames = None if in_doubt else tail.after(seen)
        if frames is None:
            frames = await read(seen)
        in_doubt = False
        if frames:
            seen = frames[-1].number
            yield frames
        else:
            in_doubt = not await tail.changed(generation)


def _frame(event: Event, number: int) -> Frame:
    return Frame(number, event.user_id, json.dumps(event_json(event), separators=(",", ":")))
