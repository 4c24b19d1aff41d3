"""Waits until a session is idle, or until an input has its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import TypeVar

from navi.live.model.access.user import User
from navi.live.model.input import Answer
from navi.live.model.session import Session, SessionState
from navi.live.runtime.broadcast import Broadcast
from navi.live.runtime.services.session_service import SessionService
from navi.live.store import input_queue, turns
from navi.live.store.engine.transactions import Store

LONGEST_SECONDS = 25.0
"""How long one request may wait: less than the 30 seconds after which clients time out."""
_WAIT_ENDING_EVENTS = ("session_sync", "session_update", "input_removed")
"""Events that can end a wait; after others, there is no need to check again."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class IdleResult:
    is_idle: bool
    session: Session


class LongPoll:
    def __init__(self, store: Store, broadcast: Broadcast, sessions: SessionService) -> None:
        self._store = store
        self._broadcast = broadcast
        self._sessions = sessions

    async def wait_until_idle(self, user: User, session_id: str, seconds: float) -> IdleResult:
        """Return when the session has ended, is idle with an empty queue, or the time is up."""

        async def check() -> tuple[IdleResult, bool]:
            session = await self._sessions.get(user, session_id)
            is_idle = session.state is SessionState.STOPPED
            if session.state is SessionState.IDLE:
                is_idle = not await self._store.transact(input_queue.list_inputs, session_id)
            return IdleResult(is_idle, session), is_idle

        return await self._wait(session_id, check, seconds)

    async def wait_for_answer(
        self, user: User, session_id: str, input_id: str, seconds: float
    ) -> Answer:
        """Return the answer once the input's turn has ended, or the progress when time is up."""
        await self._sessions.get(user, session_id)

        async def check() -> tuple[Answer, bool]:
            answer = await self._store.transact(turns.answer, session_id, input_id)
            return answer, answer.status == "done"

        return await self._wait(session_id, check, seconds)

    async def _wait(
        self, session_id: str, check: Callable[[], Awaitable[tuple[Result, bool]]], seconds: float
    ) -> Result:
        # Read before the first check, so that no later event is missed.
        after = await self._broadcast.last_seq(session_id)
        result, is_done = await check()
        if is_done or seconds <= 0:
            return result
        try:
            async with asyncio.timeout(min(seconds, LONGEST_SECONDS)):
                async with aclosing(self._broadcast.follow_session(session_id, after)) as batches:
                    async for batch in batches:
                        if any(frame.type in _WAIT_ENDING_EVENTS for frame in batch):
                            result, is_done = await check()
                            if is_done:
                                break
        except TimeoutError:
            pass
        return result
