"""Numbers, stores and reads events."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, select, update

from navi.base.errors import FenceLost, SessionNotFound
from navi.live.model.event import Event, Payload
from navi.live.store.engine import signals
from navi.live.store.engine.dialects.registry import dialect_of
from navi.live.store.engine.tables import events, feed, lanes

_OUTBOX = "navi_outbox"
SESSIONS_PER_SIGNAL = 64
"""A PostgreSQL signal must be shorter than 8,000 bytes."""

_INSERT = insert(events)
_NEXT_SEQ = (
    update(lanes)
    .where(lanes.c.session_id == bindparam("key"))
    .values(last_seq=lanes.c.last_seq + bindparam("count"))
    .returning(lanes.c.last_seq, lanes.c.user_id)
)
_WRITE_SEQ = (
    update(lanes)
    .where(lanes.c.session_id == bindparam("key"))
    .values(last_seq=bindparam("last_number"))
)
_NEXT_SEQ_FENCED = _NEXT_SEQ.where(
    lanes.c.fence == bindparam("held_fence"), lanes.c.turn_id.is_not(None)
)
_NEXT_POSITION = (
    update(feed)
    .values(last_position=feed.c.last_position + bindparam("count"))
    .returning(feed.c.last_position)
)
_READ_SESSION = (
    select(events)
    .where(events.c.session_id == bindparam("session_id"), events.c.seq > bindparam("after"))
    .order_by(events.c.seq)
    .limit(bindparam("page"))
)
_READ_ALL = (
    select(events)
    .where(events.c.position > bindparam("after"))
    .order_by(events.c.position)
    .limit(bindparam("page"))
)


@dataclass(slots=True)
class _Counter:
    """The `seq` of a locked session's last event: counted in memory, written once."""

    last_seq: int
    user_id: str
    is_written: bool = True


_PendingEvent = tuple[str, int, str, str | None, str, Payload, datetime]
"""An event that has its `seq` but no position yet: the columns after `position`, in table order."""


@dataclass(slots=True)
class _Outbox:
    """The events of one transaction."""

    counters: dict[str, _Counter] = field(default_factory=dict)
    """By session id."""
    pending: list[_PendingEvent] = field(default_factory=list)
    stored: list[Event] = field(default_factory=list)


def open_outbox(connection: Connection) -> None:
    """Begin collecting the events of a transaction."""
    connection.info[_OUTBOX] = _Outbox()


def register_locked_lane(
    connection: Connection, session_id: str, last_seq: int, user_id: str
) -> None:
    """Number this session's events from `last_seq` + 1. Its lock keeps others from adding any."""
    _outbox(connection).counters.setdefault(session_id, _Counter(last_seq, user_id))


def emit(
    connection: Connection,
    session_id: str,
    turn_id: str | None,
    items: Sequence[tuple[str, Payload]],
    now: datetime,
    *,
    fence: int | None = None,
) -> int:
    """Number events of one session without gaps. `store_emitted` stores them before the commit.

    With `fence`, raises FenceLost unless the session's turn still has that fence. Returns the last
    event's `seq`, or 0 without events.
    """
    if not items:
        return 0
    if fence is None:
        last_seq, user_id = _advance(connection, session_id, len(items))
    else:
        last_seq, user_id = _advance_fenced(connection, session_id, len(items), fence)
    pending = _outbox(connection).pending
    for seq, (type_, payload) in enumerate(items, start=last_seq - len(items) + 1):
        pending.append((session_id, seq, user_id, turn_id, type_, payload, now))
    return last_seq


def store_emitted(connection: Connection) -> list[Event]:
    """Store and return the transaction's events, to be published after the commit.

    Call it as late as possible: it takes the lock that orders all commits with events.
    """
    outbox = _outbox(connection)
    if outbox.pending:
        unwritten = [
            {"key": session_id, "last_number": counter.last_seq}
            for session_id, counter in outbox.counters.items()
            if not counter.is_written
        ]
        if unwritten:
            connection.execute(_WRITE_SEQ, unwritten)
        outbox.stored += _store(connection, outbox.pending)
        outbox.counters, outbox.pending = {}, []
    return outbox.stored


def read_session(
    connection: Connection, session_id: str, after_seq: int, limit: int
) -> list[Event]:
    store_emitted(connection)
    parameters = {"session_id": session_id, "after": after_seq, "page": limit}
    return [_event(row) for row in connection.execute(_READ_SESSION, parameters)]


def read_all(connection: Connection, after_position: int, limit: int) -> list[Event]:
    """Events of all sessions, in commit order."""
    store_emitted(connection)
    parameters = {"after": after_position, "page": limit}
    return [_event(row) for row in connection.execute(_READ_ALL, parameters)]


def read_turn(connection: Connection, session_id: str, turn_id: str) -> list[Event]:
    store_emitted(connection)
    query = (
        select(events)
        .where(events.c.session_id == session_id, events.c.turn_id == turn_id)
        .order_by(events.c.seq)
    )
    return [_event(row) for row in connection.execute(query)]


def last_position(connection: Connection) -> int:
    """The position of the last event of any session; 0 before the first one."""
    position: int = connection.execute(select(feed.c.last_position)).scalar_one()
    return position


def last_seq(connection: Connection, session_id: str) -> int:
    """The `seq` of the session's last event; 0 if it has none."""
    store_emitted(connection)
    query = select(lanes.c.last_seq).where(lanes.c.session_id == session_id)
    return connection.execute(query).scalar() or 0


def forget_session(connection: Connection, session_id: str, before_seq: int) -> None:
    """Delete the session's events with numbers below `before_seq`."""
    store_emitted(connection)
    connection.execute(
        delete(events).where(events.c.session_id == session_id, events.c.seq < before_seq)
    )


def _advance(connection: Connection, session_id: str, count: int) -> tuple[int, str]:
    """Take the next `count` numbers. Returns the last of them, and the session's user."""
    counter = _outbox(connection).counters.get(session_id)
    if counter is not None:
        counter.last_seq += count
        counter.is_written = False
        return counter.last_seq, counter.user_id
    row = connection.execute(_NEXT_SEQ, {"key": session_id, "count": count}).one_or_none()
    if row is None:
        raise SessionNotFound(session_id)
    return row.last_seq, row.user_id


def _advance_fenced(
    connection: Connection, session_id: str, count: int, fence: int
) -> tuple[int, str]:
    """`_advance`, if the session's turn still has this fence."""
    if session_id in _outbox(connection).counters:
        store_emitted(connection)
        # The statement below counts in the table, so the counter in memory would be out of date.
        _outbox(connection).counters.pop(session_id, None)
    values = {"key": session_id, "count": count, "held_fence": fence}
    row = connection.execute(_NEXT_SEQ_FENCED, values).one_or_none()
    if row is None:
        raise FenceLost(session_id)
    return row.last_seq, row.user_id


def _outbox(connection: Connection) -> _Outbox:
    outbox: _Outbox = connection.info.setdefault(_OUTBOX, _Outbox())
    return outbox


def _store(connection: Connection, pending: Sequence[_PendingEvent]) -> list[Event]:
    """Give the events their positions, store them and signal the other processes."""
    count = len(pending)
    last = connection.execute(_NEXT_POSITION, {"count": count}).scalar_one()
    # An event's fields are its row's columns, in the same order.
    stored = [Event(position, *rest) for position, rest in enumerate(pending, last - count + 1)]
    connection.execute(_INSERT, [event._asdict() for event in stored])
    if dialect_of(connection.dialect).supports_other_servers:
        _announce(connection, stored)
    return stored


def _announce(connection: Connection, stored: Sequence[Event]) -> None:
    """Signal each session's last `seq`, and the last position overall."""
    last_numbers = list({event.session_id: event.seq for event in stored}.items())
    for first in range(0, len(last_numbers), SESSIONS_PER_SIGNAL):
        part = last_numbers[first : first + SESSIONS_PER_SIGNAL]
        signals.send(connection, signals.EVENTS, json.dumps([part, stored[-1].position]))


def _event(row: Row[Any]) -> Event:
    return Event._make(row)
