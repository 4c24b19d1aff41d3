"""A store with sessions, inputs and turns, and no runtime."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from navi.base.ids import new_id
from navi.live.model.event import Event, TurnEvent, Usage
from navi.live.model.input import Admission, NewInput
from navi.live.model.message import drafts_of
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome, Turn
from navi.live.store import input_queue, sessions, turns
from navi.live.store.due.contract import Claimed, DueKind, next_instants_query, next_of_each
from navi.live.store.engine.transactions import Store

OK = Ending(Outcome.OK)
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@dataclass
class World:
    """A store, the events it published, and the steps most tests begin with."""

    store: Store
    published: list[Event] = field(default_factory=list)
    now: datetime = NOON

    @property
    def url(self) -> str:
        return self.store.url

    def later(self, seconds: float = 1) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    async def session(self, **fields: Any) -> Session:
        session = Session.new("local", "scripted", "/", self.now, name="test")
        return await self.store.transact(sessions.create, replace(session, **fields))

    async def admit(self, session: Session, text: str = "hello", **fields: Any) -> Admission:
        new = NewInput(**{"id": new_id(), "session_id": session.id, "text": text, **fields})
        return await self.store.transact(input_queue.admit, new, self.later())

    async def begin(self, session: Session, owner: str = "me") -> turns.TurnStart | None:
        now = self.later()
        return await self.store.transact(
            turns.begin,
            session.id,
            turns.Claim(new_id(), owner, now + timedelta(seconds=15), now),
        )

    async def begun(self, session: Session, text: str = "hello", **fields: Any) -> turns.TurnStart:
        await self.admit(session, text, **fields)
        begun = await self.begin(session)
        assert begun is not None
        return begun

    async def turn(self, session: Session, text: str, *happened: TurnEvent, **fields: Any) -> None:
        """Run a whole turn with these events."""
        begun = await self.begun(session, text, **fields)
        await self.finish(begun.turn, *happened)

    async def finish(
        self,
        turn: Turn,
        *happened: TurnEvent,
        counted: int = 0,
        ending: Ending = OK,
    ) -> None:
        """End a turn; `counted` of its events are stored already."""
        usage, drafts = Usage(10, 5, 100, 20), drafts_of(happened)
        now = self.later()
        await self.store.transact(turns.finish, turn, counted, happened, drafts, ending, usage, now)


@asynccontextmanager
async def store_world(url: str) -> AsyncIterator[World]:
    """A world on a database that already has Navi's tables."""
    store = Store(url)
    world = World(store)
    store.on_events = world.published.extend
    store.start()
    yield world
    await store.close()


async def earliest(store: Store, kind: DueKind) -> datetime | None:
    """When the next row of that kind is due."""
    instants = await store.transact(next_of_each, next_instants_query([kind]))
    return instants.get(0)


async def claim(
    store: Store, kind: DueKind, now: datetime, *, ahead: timedelta = timedelta(0), limit: int = 10
) -> Claimed:
    return await store.transact(kind.claim, now, now + ahead, limit)
