"""Which process owns which session.

A session's lane is its only lock. The process that runs its turn owns the lane until its lease
expires. Every new turn and every take-over raises the lane's fence, so that a process wrongly taken
for dead can no longer write.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Row,
    Select,
    bindparam,
    exists,
    func,
    or_,
    select,
    tuple_,
    update,
)

from navi.base.errors import SessionNotFound
from navi.live.model.input import Origin
from navi.live.model.session import Session
from navi.live.model.turn import RunningTurn, StopReason
from navi.live.store.engine import signals
from navi.live.store.engine.mappers import SESSIONS, session_of
from navi.live.store.engine.tables import (
    Instant,
    agent_sessions,
    budgets,
    lanes,
    message_queue,
    sessions,
    turns,
)
from navi.live.store.events import register_locked_lane


@dataclass(frozen=True, slots=True)
class Lane:
    """A session and its lane, locked until the transaction ends.

    `next_idx` is the index of its next message, `next_ordinal` the ordinal of its next input.
    """

    session: Session
    turn_id: str | None
    fence: int
    next_idx: int
    next_ordinal: int

    def clamp(self, now: datetime) -> datetime:
        """`now`, or the session's last change if that came after `now` was read."""
        return max(now, self.session.updated_at)


class Ready(NamedTuple):
    """A session that could begin a turn."""

    session_id: str
    user_id: str


def with_lane(session_rows: Select[Any]) -> Select[Any]:
    """Add the columns that `lane_of` reads to a query of session rows."""
    columns = (lanes.c.turn_id, lanes.c.fence, lanes.c.next_idx, lanes.c.next_ordinal)
    return session_rows.add_columns(*columns, lanes.c.last_seq).join(
        lanes, lanes.c.session_id == sessions.c.id
    )


# Lock both rows: after waiting for a lock, PostgreSQL rereads only the rows that it locks.
_LOCK = (
    with_lane(SESSIONS)
    .where(lanes.c.session_id == bindparam("session_id"))
    .with_for_update(key_share=True, of=[sessions, lanes])
)
_RUNNING = (
    select(lanes.c.user_id, func.count().label("count"))
    .where(lanes.c.turn_id.is_not(None))
    .group_by(lanes.c.user_id)
    .cte("running")
)
NOT_PAUSED = or_(
    message_queue.c.budget.is_(None),
    ~exists().where(
        budgets.c.key == message_queue.c.budget,
        budgets.c.paused_until > bindparam("now", type_=Instant),
    ),
)
"""Whether no used-up budget holds the input back."""
_WAITING_SINCE = func.min(func.coalesce(message_queue.c.not_before, message_queue.c.queued_at))
_WAITING = (
    select(
        message_queue.c.session_id,
        lanes.c.user_id,
        _WAITING_SINCE.label("waiting_since"),
        func.row_number()
        .over(partition_by=lanes.c.user_id, order_by=_WAITING_SINCE)
        .label("rank_within_user"),
    )
    .join(lanes, lanes.c.session_id == message_queue.c.session_id)
    .where(
        message_queue.c.delivered_at.is_(None),
        lanes.c.turn_id.is_(None),
        # Sessions open in a terminal begin their turns there.
        ~exists().where(
            agent_sessions.c.session_id == message_queue.c.session_id, agent_sessions.c.is_open
        ),
        tuple_(message_queue.c.origin, lanes.c.user_id).not_in(bindparam("full", expanding=True)),
        or_(
            message_queue.c.not_before.is_(None),
            message_queue.c.not_before <= bindparam("now", type_=Instant),
        ),
        NOT_PAUSED,
    )
    .group_by(message_queue.c.session_id, lanes.c.user_id)
    .cte("waiting")
)
# Rank a session as if the user's earlier ones were already running, so that each free slot goes
# to the user with the fewest running turns.
_READY = (
    select(_WAITING.c.session_id, _WAITING.c.user_id)
    .outerjoin(_RUNNING, _RUNNING.c.user_id == _WAITING.c.user_id)
    .order_by(
        func.coalesce(_RUNNING.c.count, 0) + _WAITING.c.rank_within_user, _WAITING.c.waiting_since
    )
    .limit(bindparam("limit"))
)


def lock(connection: Connection, session_id: str) -> Lane:
    row = connection.execute(_LOCK, {"session_id": session_id}).one_or_none()
    if row is None:
        raise SessionNotFound(session_id)
    return lane_of(connection, row)


def lane_of(connection: Connection, row: Row[Any]) -> Lane:
    """The lane in a locked row of a `with_lane` query."""
    register_locked_lane(connection, row.id, row.last_seq, row.user_id)
    return Lane(session_of(row), row.turn_id, row.fence, row.next_idx, row.next_ordinal)


def ready(
    connection: Connection,
    now: datetime,
    limit: int,
    *,
    full: Collection[tuple[Origin, str]] = (),
) -> list[Ready]:
    """Sessions that could begin a turn, in the order in which they should.

    Users with the fewest running turns come first, then the sessions that have waited longest.
    `full` lists the (origin, user) pairs without a free slot; their inputs are left out.
    """
    values = {"full": sorted(full), "now": now, "limit": limit}
    return [Ready(*row) for row in connection.execute(_READY, values)]


def renew(connection: Connection, owner: str, lease_until: datetime) -> None:
    """Renew the leases of all turns that this process runs."""
    connection.execute(
        update(lanes)
        .where(lanes.c.owner == owner, lanes.c.turn_id.is_not(None))
        .values(lease_until=lease_until)
    )


def running(
    connection: Connection, session_ids: Collection[str] | None = None
) -> list[RunningTurn]:
    """All running turns, on any server, or only those of these sessions."""
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


def running_origin(connection: Connection, session_id: str) -> Origin | None:
    """The origin of the session's running turn; None if none is running."""
    query = select(turns.c.origin).join(lanes, lanes.c.turn_id == turns.c.id)
    origin = connection.execute(query.where(lanes.c.session_id == session_id)).scalar()
    return None if origin is None else Origin(origin)


def request_stop(connection: Connection, session_id: str, reason: StopReason) -> bool:
    """Ask the process that runs the session's turn to end it. False if no turn is running."""
    turn_id = lock(connection, session_id).turn_id
    if turn_id is None:
        return False
    request = update(turns).where(turns.c.id == turn_id).values(stop_reason=reason)
    if reason is not StopReason.CLEARED:
        # Keep the first reason. Only CLEARED replaces it: the turn's end must clear the session.
        request = request.where(turns.c.stop_reason.is_(None))
    connection.execute(request)
    signals.send(connection, signals.STOPS, turn_id)
    return True


def offer_work(connection: Connection) -> None:
    """Tell other processes that this one has no free slot for a waiting input."""
    signals.send(connection, signals.WORK)
