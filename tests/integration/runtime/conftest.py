"""Navi at work inside the test's own process, on a real store."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from navi.agents.driver import Driver
from navi.domain.clock import Clock
from navi.domain.ids import new_id
from navi.domain.input import Admission, NewInput
from navi.domain.message import Message
from navi.domain.session import Session
from navi.domain.user import LOCAL_USER_ID, Role, User
from navi.runtime.app import Navi, running
from navi.runtime.settings import AutomationSettings, Settings, TurnSettings

LOCAL = User(LOCAL_USER_ID, Role.ADMIN, datetime(2026, 1, 1, tzinfo=UTC))
PATIENCE_SECONDS = 30.0
LONG = "[[sleep: 600]] [[say: slept]]"

Frame = dict[str, Any]


@dataclass
class World:
    navi: Navi
    folder: Path

    async def session(self, **fields: Any) -> Session:
        values = {"driver": "scripted", "cwd": str(self.folder), **fields}
        return await self.navi.sessions.create(LOCAL, **values)

    async def say(self, session: Session, text: str, **fields: Any) -> Admission:
        new = NewInput(**{"id": new_id(), "session_id": session.id, "text": text, **fields})
        return await self.navi.queue.admit(LOCAL, new)

    async def messages(self, session: Session) -> list[Message]:
        return await self.navi.sessions.messages(LOCAL, session.id, -1)

    async def frames_until(
        self, session: Session, is_last: Callable[[Frame], bool], after: int = 0
    ) -> list[Frame]:
        """The session's frames, up to and with the one that is waited for."""
        seen: list[Frame] = []
        async with asyncio.timeout(PATIENCE_SECONDS):
            async with aclosing(self.navi.feed.session(session.id, after)) as batches:
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


class MovedClock:
    """The real time and whatever it was moved by."""

    def __init__(self) -> None:
        self.moved = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.moved

    def move(self, **by: float) -> None:
        self.moved += timedelta(**by)


def counting(type_: str, times: int) -> Callable[[Frame], bool]:
    left = times

    def is_last(frame: Frame) -> bool:
        nonlocal left
        left -= int(frame["type"] == type_)
        return left == 0

    return is_last


Start = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def database_url(prepared_url: str) -> str:
    return prepared_url


@pytest.fixture
def start(database_url: str, tmp_path: Path) -> Start:
    """Start a Navi on the test's database; several may share it."""

    @asynccontextmanager
    async def starting(
        clock: Clock | None = None,
        automations: AutomationSettings | None = None,
        drivers: Mapping[str, Driver] | None = None,
        **turns: Any,
    ) -> AsyncIterator[World]:
        settings = Settings(
            turns=TurnSettings(**turns), automations=automations or AutomationSettings()
        )
        async with running(settings, database_url, "token", clock=clock, drivers=drivers) as navi:
            yield World(navi, tmp_path)

    return starting


@pytest.fixture
async def world(start: Start) -> AsyncIterator[World]:
    async with start() as world:
        yield world
