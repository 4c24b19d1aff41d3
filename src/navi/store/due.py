"""Recalls that are due: claimed and admitted as inputs, many in one transaction.

A thousand recalls may be due at the same instant, and each would like to be on time. So what they
become is made a moment ahead, and at the instant itself each costs a few rows and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, literal_column, select, text, update

from navi.domain.input import NewInput
from navi.domain.recall import Recall, RecallStatus, next_beat
from navi.store import queue, recalls
from navi.store.bulk import ADDRESS, at_address, update_at
from navi.store.events import emit_each, lane_locked, store_emitted
from navi.store.rows import IS_PENDING, recall_of
from navi.store.tables import lanes, session_recalls

Compose = Callable[[Recall, datetime, int], NewInput]
"""Makes the input of a recall that fires now, with so many beats missed."""
Wait = Callable[[timedelta], None]
"""Returns so long before the time of those that are fired ahead of it."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What a recall becomes if it fires within the second in which it is due."""

    version: datetime
    """When the recall was last changed: if that moved, this is void."""
    draft: queue.Draft


class _Due(NamedTuple):
    """A recall that is due and its lane, both locked."""

    id: str
    session_id: str
    due_at: datetime
    updated_at: datetime
    address: Any
    user_id: str
    turn_id: str | None
    last_seq: int
    next_ordinal: int
    lane_address: Any
    row: Row[Any]
    """All of it, for what could not be made ahead."""


EVENTS_PER_RECALL = 2
EVENTS_LEAD_FIXED = timedelta(milliseconds=1)
EVENTS_LEAD_EACH = timedelta(microseconds=40)
"""What PostgreSQL takes to write the events of recalls."""
_NO_MORE = ("recall_update", {"recall": None})

# Whoever is writing to a session right now is not waited for: it is looked at again in a moment.
_OTHERS = [
    column
    for column in session_recalls.c
    if column.name not in ("id", "session_id", "due_at", "updated_at")
]
_DUE = {
    kind: select(
        session_recalls.c.id,
        session_recalls.c.session_id,
        session_recalls.c.due_at,
        session_recalls.c.updated_at,
        literal_column(f"session_recalls.{address}"),
        lanes.c.user_id,
        lanes.c.turn_id,
        lanes.c.last_seq,
        lanes.c.next_ordinal,
        literal_column(f"lanes.{address}"),
        *_OTHERS,
    )
    .join(lanes, lanes.c.session_id == session_recalls.c.session_id)
    .where(IS_PENDING, session_recalls.c.trigger_at <= bindparam("now"))
    .order_by(session_recalls.c.trigger_at)
    .limit(bindparam("most"))
    .with_for_update(key_share=True, of=[session_recalls, lanes], skip_locked=True)
    for kind, address in ADDRESS.items()
}
_UPCOMING = (
    select(session_recalls)
    .join(lanes, lanes.c.session_id == session_recalls.c.session_id)
    .where(
        IS_PENDING,
        session_recalls.c.trigger_at > bindparam("now"),
        session_recalls.c.trigger_at <= bindparam("until"),
        session_recalls.c.trigger_at == session_recalls.c.due_at,
        lanes.c.turn_id.is_(None),
        # True of all of them. Asked so that what firing will change was read, and is in memory.
        text(
            "EXISTS (SELECT * FROM session_recalls AS itself "
            "WHERE itself.session_id = lanes.session_id AND itself.status = 'pending')"
        ),
    )
    .limit(bindparam("most"))
)
_CLAIM = {
    kind: update(session_recalls)
    .where(is_there)
    .values(status=RecallStatus.RUNNING.value, updated_at=bindparam("now"))
    for kind, is_there in at_address(session_recalls).items()
}
_COUNT_MISSED = (
    update(session_recalls)
    .where(session_recalls.c.id == bindparam("key"))
    .values(missed_count=session_recalls.c.missed_count + bindparam("missed"))
)
_COUNT = {
    kind: update(lanes)
    .where(is_there)
    .values(next_ordinal=lanes.c.next_ordinal + 1, last_seq=lanes.c.last_seq + EVENTS_PER_RECALL)
    for kind, is_there in at_address(lanes).items()
}


def upcoming(connection: Connection, now: datetime, until: datetime, limit: int) -> list[Recall]:
    """Recalls of idle sessions that will be due, as planned, until then."""
    asked = {"now": now, "until": until, "most": limit}
    return [recall_of(row) for row in connection.execute(_UPCOMING, asked)]


def make_ready(recall: Recall, compose: Compose) -> Ready:
    return Ready(recall.updated_at, queue.draft(compose(recall, recall.due_at, 0)))


def fire(
    connection: Connection,
    now: datetime,
    limit: int,
    compose: Compose,
    ready: Mapping[str, Ready] | None = None,
    wait: Wait | None = None,
) -> int:
    """Claim recalls that are due and admit their inputs, all or none; returns how many it saw.

    `now` may lie a moment ahead, if `wait` returns when it has come: before that nothing is
    committed, hence nothing has happened.
    The recall of a busy session is moved instead. An ended session has none that is pending.
    """
    found = connection.execute(_DUE[connection.dialect.name], {"now": now, "most": limit})
    # Of our own kind: the names of SQLAlchemy's rows are slow.
    known = len(_Due._fields) - 1
    rows = [_Due._make((*row[:known], row)) for row in found.all()]
    firing: list[_Due] = []
    for row in rows:
        lane_locked(connection, row.session_id, row.last_seq, row.user_id)
        if row.turn_id is not None:
            recalls.defer(connection, row.session_id, now)
        else:
            firing.append(row)
    if firing:
        # Claimed first: a row that is changed has another address.
        _claim(connection, firing, now)
        # Only these: composing counts what was missed, and a recall that is moved comes again.
        drafts = _drafts(connection, firing, now, compose, ready or {})
        _admit(connection, firing, drafts, now)
    if rows and wait is not None:
        _wait_written(connection, len(firing), wait)
    return len(rows)


def _wait_written(connection: Connection, count: int, wait: Wait) -> None:
    """Have the events of so many recalls written, too, when their time has come.

    In PostgreSQL their numbers lock out everybody else who has events: so not earlier than needed.
    SQLite's only writer may as well write them at once.
    """
    if connection.dialect.name == "postgresql":
        wait(EVENTS_LEAD_FIXED + count * EVENTS_LEAD_EACH)
    store_emitted(connection)
    wait(timedelta(0))


def _drafts(
    connection: Connection,
    firing: Sequence[_Due],
    now: datetime,
    compose: Compose,
    ready: Mapping[str, Ready],
) -> dict[str, queue.Draft]:
    """The inputs that the recalls become, made ahead or now."""
    second = now.replace(microsecond=0)
    drafts: dict[str, queue.Draft] = {}
    late: list[dict[str, Any]] = []
    for row in firing:
        known = ready.get(row.id)
        if known and known.version == row.updated_at and second <= row.due_at:
            drafts[row.id] = known.draft
            continue
        recall = recall_of(row.row)
        missed = _missed(recall, now)
        drafts[row.id] = queue.draft(compose(recall, now, missed))
        if missed:
            late.append({"key": row.id, "missed": missed})
    if late:
        connection.execute(_COUNT_MISSED, late)
    return drafts


def _claim(connection: Connection, firing: Sequence[_Due], now: datetime) -> None:
    addresses = [row.address for row in firing]
    update_at(connection, _CLAIM, addresses, {"now": now})


def _admit(
    connection: Connection,
    firing: Sequence[_Due],
    drafts: Mapping[str, queue.Draft],
    now: datetime,
) -> None:
    update_at(connection, _COUNT, [row.lane_address for row in firing])
    told = queue.insert_drafts(
        connection,
        [(drafts[row.id], row.next_ordinal) for row in firing],
        now,
    )
    emit_each(
        connection,
        [
            (row.session_id, [("input_queued", {"input": each}), _NO_MORE])
            for row, each in zip(firing, told, strict=True)
        ],
        now,
    )


def _missed(recall: Recall, now: datetime) -> int:
    if recall.interval_seconds is None:
        return 0
    return next_beat(recall.due_at, recall.interval_seconds, now).missed
