"""A store that tests fill through Navi's own operations and damage with plain SQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, text

from navi.live.model.event import TextDelta, Usage
from navi.live.model.message import drafts_of
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Ending, Outcome, RunningTurn
from navi.live.store import sessions, turns
from navi.live.store.events import open_outbox, store_emitted

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
OWNER = "somebody"

Damage = dict[str, tuple[str, ...]]
"""What is wrong: the objection that it must raise, and how it is brought about."""


@dataclass(frozen=True, slots=True)
class Books:
    kind: str
    url: str
    engine: Engine

    def do(self, operation: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        with self.engine.begin() as connection:
            open_outbox(connection)
            operation(connection, *arguments, **named)
            store_emitted(connection)

    def damage(self, *statements: str) -> None:
        with self.engine.begin() as connection:
            for statement in statements:
                assert connection.execute(text(statement)).rowcount, f"changed nothing: {statement}"

    def create_session(self, session_id: str) -> None:
        session = Session(
            id=session_id,
            name=session_id,
            driver="scripted",
            model=None,
            cwd="/",
            parent_id=None,
            user_id="local",
            state=SessionState.IDLE,
            task=None,
            agent_status_text=None,
            agent_status_at=None,
            context_from_idx=0,
            created_at=NOW,
            updated_at=NOW,
        )
        self.do(sessions.create, session)


def answer(
    connection: Connection,
    session_id: str,
    turn_id: str,
    begin_at: datetime = NOW,
    end_at: datetime | None = None,
) -> None:
    """A turn that answers each of its inputs."""
    begun = turns.begin(connection, session_id, turns.Claim(turn_id, OWNER, begin_at, begin_at))
    assert begun is not None
    events = [TextDelta(", ".join(f"answer {each.id}" for each in begun.turn.inputs))]
    turns.extend(connection, begun.turn, 0, events, begin_at)
    ending = Ending(Outcome.OK)
    drafts = drafts_of(events)
    turns.finish(connection, begun.turn, 1, [], drafts, ending, Usage(), end_at or begin_at)


def die(
    connection: Connection, session_id: str, turn_id: str, *, text: str, at: datetime = NOW
) -> None:
    """A turn whose server dies after it has said some text."""
    begun = turns.begin(connection, session_id, turns.Claim(turn_id, OWNER, at, at))
    assert begun is not None
    if text:
        turns.extend(connection, begun.turn, 0, [TextDelta(text)], at)
    dead = RunningTurn(turn_id, session_id, begun.turn.fence, OWNER, at, None)
    assert turns.close_dead(connection, dead, at)
