"""A running Navi in the test's own process, on a real store, with a clock that the test moves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from navi.base.ids import new_id
from navi.live.model.access.user import LOCAL_USER_ID, Role, User
from navi.live.model.input import Admission, NewInput
from navi.live.model.message import Message
from navi.live.model.session import Session
from navi.live.runtime.app import Navi, due_kinds
from navi.live.store.due.contract import next_instants_query, next_of_each
from tests.hand_clock import HandClock

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
LOCAL = User(LOCAL_USER_ID, Role.ADMIN, EPOCH)
ADA = User("ada", Role.USER, EPOCH)
BOB = User("bob", Role.USER, EPOCH)
PATIENCE_SECONDS = 30.0
LONG = "[[sleep: 600]] [[say: slept]]"

Frame = dict[str, Any]
Result = TypeVar("Result")


@dataclass
class World:
    navi: Navi
    folder: Path
    clock: HandClock

    async def session(self, **fields: Any) -> Session:
        values = {"driver": "scripted", "cwd": str(self.folder), **fields}
        return await self.navi.sessions.create(LOCAL, **values)

    async def say(self, session: Session, text: str, **fields: Any) -> Admission:
        new = NewInput(**{"id": new_id(), "session_id": session.id, "text": text, **fields})
        return await self.navi.admission.admit(LOCAL, new)

    async def messages(self, session: Session) -> list[Message]:
        return await self.navi.sessions.messages(LOCAL, session.id, -1)

    async def forward(self, seconds: float = 0, **by: float) -> None:
        """Move the clock, and return once everything due is queued or has started."""
        self.clock.move(seconds=seconds, **by)
        await self.at_rest()

    async def at_rest(self) -> None:
        """Return once nothing is due and every turn that can start has started."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                self.navi.scheduler.wake()
                self.navi.admission.wake()
                await self.navi.scheduler.wait_until_idle()
                await self.navi.admission.wait_until_idle()
                # Rows that another transaction holds are skipped; try them again.
                if not any(at <= self.clock.moment for at in await self._instants()):
                    return

    async def _instants(self) -> list[datetime]:
        query = next_instants_query(due_kinds(self.navi.settings))
        return list((await self.navi.store.transact(next_of_each, query)).values())

    async def until(self, look: Callable[[], Awaitable[Result]]) -> Result:
        """Call `look` now and after every event until it returns something true; return that."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            async with aclosing(self.navi.broadcast.follow_all(LOCAL, 0)) as batches:
                if seen := await look():
                    return seen
                async for _ in batches:
                    if seen := await look():
                        return seen
        raise AssertionError("the feed ended")

    async def frames_until(
        self, session: Session, is_last: Callable[[Frame], bool], after: int = 0
    ) -> list[Frame]:
        """The session's frames, up to and including the awaited one."""
        seen: list[Frame] = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            async with aclosing(self.navi.broadcast.follow_session(session.id, after)) as batches:
                async for batch in batches:
                    for frame in batch:
                        seen.append(json.loads(frame.text))
                        if is_last(seen[-1]):
                            return seen
        raise AssertionError("the feed ended")

    async def started(self, session: Session, times: int = 1) -> list[Frame]:
        return await self.frames_until(session, counting("stream_start", times))

    async def ended(self, session: Session, times: int = 1) -> list[Frame]:
        return await self.frames_until(session, counting("session_sync", times))

    async def outcomes(self, session: Session, times: int) -> list[str]:
        frames = await self.ended(session, times)
        return [frame["outcome"] for frame in frames if frame["type"] == "stream_end"]


def counting(type_: str, times: int) -> Callable[[Frame], bool]:
    left = times

    def is_last(frame: Frame) -> bool:
        nonlocal left
        left -= int(frame["type"] == type_)
        return left == 0

    return is_last


Start = Callable[..., AbstractAsyncContextManager[World]]
