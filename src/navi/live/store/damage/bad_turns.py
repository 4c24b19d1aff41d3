"""Sets aside turns that can't be read or closed, so that their sessions can continue."""

from __future__ import annotations

import logging
from datetime import datetime

from sqlalchemy import Connection, select, update

from navi.live.model.session import SessionState
from navi.live.model.turn import Ending, Outcome, RunningTurn
from navi.live.store import input_queue, origins, sessions
from navi.live.store import lanes as stored_lanes
from navi.live.store.damage import set_aside as aside
from navi.live.store.engine.tables import lanes, turns

log = logging.getLogger("navi.store")


def set_aside(connection: Connection, now: datetime) -> list[RunningTurn]:
    """Set aside running turns that can't be read. Returns the others."""
    running: list[RunningTurn] = []
    query = select(lanes.c.session_id, lanes.c.turn_id).where(lanes.c.turn_id.is_not(None))
    for session_id, turn_id in connection.execute(query).all():
        try:
            running += stored_lanes.running(connection, [session_id])
        except Exception as error:
            end(connection, turn_id, session_id, aside.reason_of(error), now)
    return running


def end(connection: Connection, turn_id: str, session_id: str, why: str, now: datetime) -> None:
    """End the turn and free its lane without reading its row."""
    aside.record(connection, "turn", aside.Reference(turn_id, session_id), why, now)
    ended = {"outcome": Outcome.ERROR, "error": why, "ended_at": now, "stop_reason": None}
    connection.execute(update(turns).where(turns.c.id == turn_id).values(**ended))
    connection.execute(
        update(lanes)
        .where(lanes.c.session_id == session_id, lanes.c.turn_id == turn_id)
        .values(turn_id=None, owner=None, lease_until=None, fence=lanes.c.fence + 1)
    )
    _settle(connection, turn_id, session_id, why, now)
    aside.show(connection, "turn", aside.Reference(turn_id, session_id), why, now)


def _settle(connection: Connection, turn_id: str, session_id: str, why: str, now: datetime) -> None:
    """Make the session idle and end the recall or run behind the turn, if they can be read."""
    try:
        with connection.begin_nested():
            lane = stored_lanes.lock(connection, session_id)
            sessions.bring_to(connection, lane, SessionState.IDLE, now)
            for each in input_queue.delivered_to(connection, turn_id):
                origins.turn_ended(connection, each, Ending(Outcome.ERROR, why), None, now)
    except Exception:
        log.exception("can't settle turn %s of session %s", turn_id, session_id)
