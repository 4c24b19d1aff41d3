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
_KEEP_SEQ = (
    update(lanes)
    .where(lanes.c.session_id == bindparam("key"))
    .values(last_seq=bindparam("reached"))
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
class _Numbers:
    """A locked session's numbers: counted here, written once."""

    last_seq: int
    user_id: str
    is_written: bool = True


_Numbered = tuple[str, int, str, str | None, str, Payload, datetime]
"""An event that has its `seq` but not its position yet: the columns after the position."""


@dataclass(slots=True)
class _Outbox:
    """The events of one transaction."""

    numbers: dict[str, _Numbers] = field(default_factory=dict)
    numbered: list[_Numbered] = field(default_factory=list)
    stored: list[Event] = field(default_factory=list)


def open_outbox(connection: Connection) -> None:
    """Begin collecting the events of a transaction."""
    connection.info[_OUTBOX] = _Outbox()


def lane_locked(connection: Connection, session_id: str, last_seq: int, user_id: str) -> None:
    """Number this session's events from `last_seq`; its lock keeps others from doing so."""
    _outbox(connection).numbers.setdefault(session_id, _Numbers(last_seq, user_id))


def emit(
    connection: Connection,
    session_id: str,
    turn_id: str | None,
    items: Sequence[tuple[str, Payload]],
    now: datetime,
    *,
    fence: int | None = None,
) -> int:
    """Number events of one session without gaps. `store_emitted` stores them at the end.

    With `fence`, only while that fence still holds. Returns the number of the last.
    """
    if not items:
        return 0
    last_seq, user_id = _next_numbers(connection, session_id, len(items), fence)
    numbered = _outbox(connection).numbered
    for seq, (type_, payload) in enumerate(items, start=last_seq - len(items) + 1):
        numbered.append((session_id, seq, user_id, turn_id, type_, payload, now))
    return last_seq


def store_emitted(connection: Connection) -> list[Event]:
    """Store and return the transaction's events, to be published after the commit.

    Call it last: it takes the lock that orders all commits with events.
    """
    outbox = _outbox(connection)
    if outbox.numbered:
        reached = [
            {"key": session_id, "reached": numbers.last_seq}
            for session_id, numbers in outbox.numbers.items()
            if not numbers.is_written
        ]
        if reached:
            connection.execute(_KEEP_SEQ, reached)
        stored = _stored(connection, outbox)
        outbox.numbers, outbox.numbered = {}, []
        outbox.stored += stored
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
    position: int = connection.execute(select(feed.c.last_position)).scalar_one()
    return position


def last_seq(connection: Connection, session_id: str) -> int:
    store_emitted(connection)
    query = select(lanes.c.last_seq).where(lanes.c.session_id == session_id)
    return connection.execute(query).scalar() or 0


def forget_session(connection: Connection, session_id: str, before_seq: int) -> None:
    store_emitted(connection)
    connection.execute(
        delete(events).where(events.c.session_id == session_id, events.c.seq < before_seq)
    )


def _next_numbers(
    connection: Connection, session_id: str, count: int, fence: int | None
) -> tuple[int, str]:
    outbox = _outbox(connection)
    numbers = outbox.numbers.get(session_id)
    if numbers is not None and fence is None:
        numbers.last_seq += count
        numbers.is_written = False
        return numbers.last_seq, numbers.user_id
    if numbers is not None:
        store_emitted(connection)
    parameters: dict[str, Any] = {"key": session_id, "count": count}
    if fence is None:
        row = connection.execute(_NEXT_SEQ, parameters).one_or_none()
    else:
        row = connection.execute(
            _NEXT_SEQ_FENCED, {**parameters, "held_fence": fence}
        ).one_or_none()
    if row is None:
        raise FenceLost(session_id) if fence is not None else SessionNotFound(session_id)
    return row.last_seq, row.user_id


def _outbox(connection: Connection) -> _Outbox:
    outbox: _Outbox = connection.info.setdefault(_OUTBOX, _Outbox())
    return outbox


def _stored(connection: Connection, outbox: _Outbox) -> list[Event]:
    """Give the events their positions, store them and signal the other processes."""
    count = len(outbox.numbered)
    position = connection.execute(_NEXT_POSITION, {"count": count}).scalar_one()
    # An event's fields are its row's columns, in the same order.
    stored = [
        Event(number, *rest) for number, rest in enumerate(outbox.numbered, position - count + 1)
    ]
    connection.execute(_INSERT, [event._asdict() for event in stored])
    if dialect_of(connection.dialect).has_other_servers:
        _announce(connection, stored)
    return stored


def _announce(connection: Connection, stored: Sequence[Event]) -> None:
    """Signal the last number of each session, and the last position of all."""
    last = {event.session_id: event.seq for event in stored}
    numbers = list(last.items())
    for first in range(0, len(numbers), SESSIONS_PER_SIGNAL):
        part = numbers[first : first + SESSIONS_PER_SIGNAL]
        signals.send(connection, signals.EVENTS, json.dumps([part, stored[-1].position]))


def _event(row: Row[Any]) -> Event:
    return Event._make(row)
