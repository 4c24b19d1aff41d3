"""Who owns which session.

A session's lane is its only lock. Whoever runs its turn holds the lane under a lease, and every
take-over raises the lane's fence, so that a process that was thought dead can't write any more.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from navi.domain.errors import SessionNotFound
from navi.domain.turn import RunningTurn, StopReason
from navi.store import signals
from navi.store.tables import lanes, message_queue, turns


def lock(connection: Connection, session_id: str) -> Row[Any]:
    """The lane, which nobody else changes until this transaction ends."""
    query = select(lanes).where(lanes.c.session_id == session_id).with_for_update()
    if (lane := connection.execute(query).one_or_none()) is None:
        raise SessionNotFound(session_id)
    return lane


def ready(connection: Connection, limit: int) -> list[str]:
    """Sessions that could begin a turn: something waits and nothing runs. Longest wait first."""
    query = (
        select(message_queue.c.session_id)
        .join(lanes, lanes.c.session_id == message_queue.c.session_id)
        .where(message_queue.c.delivered_at.is_(None), lanes.c.turn_id.is_(None))
        .order_by(message_queue.c.queued_at, message_queue.c.ordinal)
    )
    sessions: dict[str, None] = {}
    for session_id in connection.execute(query).scalars():
        sessions[session_id] = None
        if len(sessions) == limit:
            break
    return list(sessions)


def renew(connection: Connection, owner: str, lease_until: datetime) -> None:
    connection.execute(
        update(lanes)
        .where(lanes.c.owner == owner, lanes.c.turn_id.is_not(None))
        .values(lease_until=lease_until)
    )


def running(
    connection: Connection, session_ids: Collection[str] | None = None
) -> list[RunningTurn]:
    """The turns that run anywhere, or those of the given sessions."""
    query = select(lanes, turns.c.stop_reason).join(turns, turns.c.id == lanes.c.turn_id)
    if session_ids is not None:
        query = query.where(lanes.c.session_id.in_(session_ids))
    return [
        RunningTurn(
            id=row.turn_id,
            session_id=row.session_id,
            fence=row.fence,
            owner=row.owner,
            lease_until=row.lease_until,
            stop_reason=StopReason(row.stop_reason) if row.stop_reason else None,
        )
        for row in connection.execute(query)
    ]


def request_stop(connection: Connection, session_id: str, reason: StopReason) -> bool:
    """Ask whoever runs the session's turn to end it. False if none runs."""
    turn_id = lock(connection, session_id).turn_id
    if turn_id is None:
        return False
    connection.execute(
        update(turns)
        .where(turns.c.id == turn_id, turns.c.stop_reason.is_(None))
        .values(stop_reason=reason)
    )
    signals.send(connection, signals.STOPS, session_id)
    return True


def offer_work(connection: Connection) -> None:
    """Tell the other processes that something waits for which this one has no room."""
    signals.send(connection, signals.WORK, "")
