"""Automations in a store, and turns of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from navi.base.ids import new_id
from navi.live.model.event import TextDelta, Usage
from navi.live.model.message import drafts_of
from navi.live.model.scheduling.automation import Automation, CatchUp, Guards, Kind, Target
from navi.live.model.scheduling.schedule import Every
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome
from navi.live.store import turns
from navi.live.store.scheduling import automations
from tests.store_world import NOON, World

HOUR = timedelta(hours=1)


def automation(session: Session | None, **fields: Any) -> Automation:
    values: dict[str, Any] = {
        "id": new_id(),
        "user_id": "local",
        "name": "monitor",
        "kind": Kind.AGENT_TURN,
        "session_key": None if session is None else session.id,
        "schedule": Every(3600, NOON),
        "message": "look",
        "enabled": True,
        "catch_up": CatchUp.ONCE,
        "guards": Guards(),
        "target": Target(),
        "next_run_at": NOON + HOUR,
        "created_at": NOON,
        "updated_at": NOON,
    }
    return Automation(**{**values, **fields})


async def add(world: World, session: Session, **fields: Any) -> Automation:
    return await world.store.transact(automations.add, automation(session, **fields))


async def now_of(world: World, made: Automation) -> Automation:
    return await world.store.transact(automations.get, made.id)


async def begin(world: World, session_id: str) -> turns.TurnStart:
    now = world.later()
    lease = turns.Claim(new_id(), "me", now + timedelta(seconds=15), now)
    begun = await world.store.transact(turns.begin, session_id, lease)
    assert begun is not None
    return begun


OK = Ending(Outcome.OK)


async def finish(
    world: World, begun: turns.TurnStart, answer: str = "answer", ending: Ending = OK
) -> None:
    happened = [TextDelta(answer)]
    drafts = drafts_of(happened)
    await world.store.transact(
        turns.finish, begun.turn, 0, happened, drafts, ending, Usage(), world.later()
    )
