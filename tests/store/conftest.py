"""A store of each kind, empty, on its own database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from navi.base.ids import new_id
from navi.live.model.event import Event
from navi.live.model.input import Admission, NewInput
from navi.live.model.session import Session, SessionState
from navi.live.store import input_queue, sessions, turns
from navi.live.store.due.contract import Claimed, DueKind, next_instants, next_of_each
from navi.live.store.engine.dialects.sqlite import sqlite_url
from navi.live.store.engine.transactions import Store

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@dataclass
class World:
    """A store, what it told, and the few steps that most tests begin with."""

    store: Store
    url: str
    told: list[Event] = field(default_factory=list)
    now: datetime = NOON

    def later(self, seconds: float = 1) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    async def session(self, **fields: Any) -> Session:
        values: dict[str, Any] = {
            "id": new_id(),
            "name": "test",
            "driver": "scripted",
            "model": None,
            "cwd": "/",
            "parent_id": None,
            "user_id": "local",
            "state": SessionState.IDLE,
            "task": None,
            "agent_status_text": None,
            "agent_status_at": None,
            "context_from_idx": 0,
            "created_at": self.now,
            "updated_at": self.now,
        }
        return await self.store.transact(sessions.create, Session(**{**values, **fields}))

    async def admit(self, session: Session, text: str = "hello", **fields: Any) -> Admission:
        new = NewInput(**{"id": new_id(), "session_id": session.id, "text": text, **fields})
        return await self.store.transact(input_queue.admit, new, self.later())

    async def begin(self, session: Session, owner: str = "me") -> turns.Begun | None:
        now = self.later()
        return await self.store.transact(
            turns.begin,
            session.id,
            turns.Claim(new_id(), owner, now + timedelta(seconds=15), now),
        )

    async def begun(self, session: Session, text: str = "hello") -> turns.Begun:
        await self.admit(session, text)
        begun = await self.begin(session)
        assert begun is not None
        return begun


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "navi.sqlite3")
    return str(request.getfixturevalue("postgres").create_database())


@pytest.fixture
async def world(prepared_url: str) -> AsyncIterator[World]:
    store = Store(prepared_url)
    world = World(store, prepared_url)
    store.on_events = world.told.extend
    store.start()
    yield world
    await store.close()


async def earliest(store: Store, kind: DueKind) -> datetime | None:
    """When the next row of that kind is due."""
    instants = await store.transact(next_of_each, next_instants([kind]))
    return instants.get(0)


async def claim(
    store: Store, kind: DueKind, now: datetime, *, ahead: timedelta = timedelta(0), limit: int = 10
) -> Claimed:
    return await store.transact(kind.claim, now, now + ahead, limit)
