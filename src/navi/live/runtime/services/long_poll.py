"""Waiting for a session to come to rest, or for the answer to one input."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from navi.live.model.access.user import User
from navi.live.model.input import Answer
from navi.live.model.session import Session, SessionState
from navi.live.runtime.broadcast import Feed
from navi.live.runtime.services.session_service import Sessions
from navi.live.store import input_queue, turns
from navi.live.store.engine.transactions import Store

LONGEST_SECONDS = 25.0
"""Of one request; whoever wants to wait longer asks again. Clients give up after 30 seconds."""
# Only these events can end a wait.
_ENDS_A_WAIT = ("session_sync", "session_update", "input_removed")

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Rest:
    is_idle: bool
    session: Session


class Waiting:
    def __init__(self, store: Store, feed: Feed, sessions: Sessions) -> None:
        self._store = store
        self._feed = feed
        self._sessions = sessions

    async def rest(self, user: User, session_id: str, seconds: float) -> Rest:
        """The session as soon as it is idle with nothing to do, or ended; or the time is up."""

        async def look() -> tuple[Rest, bool]:
            session = await self._sessions.get(user, session_id)
            is_idle = session.state is SessionState.STOPPED
            if session.state is SessionState.IDLE:
                is_idle = not await self._store.transact(input_queue.waiting, session_id)
            return Rest(is_idle, session), is_idle

        return await self._until(session_id, look, seconds)

    async def answer(self, user: User, session_id: str, input_id: str, seconds: float) -> Answer:
        """The answer to the input, as soon as its turn has ended; or how far it is by then."""
        await self._sessions.get(user, session_id)

        async def look() -> tuple[Answer, bool]:
            answer = await self._store.transact(turns.answer, session_id, input_id)
            return answer, answer.status == "done"

        return await self._until(session_id, look, seconds)

    async def _until(
        self, session_id: str, look: Callable[[], Awaitable[tuple[Found, bool]]], seconds: float
    ) -> Found:
        # Before the first look: what happens after it is not missed.
        after = await self._feed.last_seq(session_id)
        found, is_done = await look()
        if is_done or seconds <= 0:
            return found
        try:
            async with asyncio.timeout(min(seconds, LONGEST_SECONDS)):
                async with aclosing(self._feed.session(session_id, after)) as batches:
                    async for batch in batches:
                        if any(frame.type in _ENDS_A_WAIT for frame in batch):
                            found, is_done = await look()
                            if is_done:
                                break
        except TimeoutError:
            pass
        return found
