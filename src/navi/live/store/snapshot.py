"""A session at one moment, and the `seq` of the event after which to follow it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from navi.live.model.input import Input
from navi.live.model.message import Message
from navi.live.model.session import Session
from navi.live.store import events, input_queue, sessions, transcript
from navi.live.store.engine.tables import events as stored_events
from navi.live.store.lanes import lock


@dataclass(frozen=True, slots=True)
class Snapshot:
    session: Session
    messages: list[Message]
    """The latest messages of ended turns. A running turn's content is in its events."""
    queue: list[Input]
    after: int
    """The `seq` after which to follow the session: later events include the whole running turn."""


def take(connection: Connection, session_id: str, limit: int) -> Snapshot:
    """The session as it is now, with its latest `limit` messages."""
    # The lane's lock keeps all parts consistent on both databases.
    lane = lock(connection, session_id)
    after = events.last_seq(connection, session_id)
    before_idx = None
    if lane.turn_id is not None:
        of_turn = (
            stored_events.c.session_id == session_id,
            stored_events.c.turn_id == lane.turn_id,
        )
        first = connection.execute(select(func.min(stored_events.c.seq)).where(*of_turn)).scalar()
        after = after if first is None else first - 1
        before_idx = transcript.first_idx(connection, lane.turn_id)
    return Snapshot(
        session=sessions.get(connection, session_id),
        messages=transcript.read(connection, session_id, before_idx=before_idx, limit=limit),
        queue=list(input_queue.list_inputs(connection, session_id)),
        after=after,
    )
