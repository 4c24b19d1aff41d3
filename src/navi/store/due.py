"""Recalls that are due: claimed and admitted as inputs, many in one transaction.

Everything is done for all of them at once, because a thousand recalls may be due at the same
instant, and each would like to be on time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from navi.domain.event import Payload
from navi.domain.input import Input, NewInput
from navi.domain.recall import DEFERRED_BY, Recall, RecallStatus, next_beat
from navi.domain.session import SessionState
from navi.domain.wire import input_json
from navi.store import queue, recalls
from navi.store.events import emit, lane_locked
from navi.store.rows import recall_of
from navi.store.tables import lanes, session_recalls, sessions

Compose = Callable[[Recall, datetime, int], NewInput]
"""Makes the input of a recall that fires now, with so many beats missed."""

# Whoever is writing to a session right now is not waited for: it is looked at again in a moment.
_DUE = (
    select(
        session_recalls,
        sessions.c.state,
        sessions.c.updated_at.label("session_updated_at"),
        lanes.c.user_id,
        lanes.c.turn_id,
        lanes.c.last_seq,
        lanes.c.next_ordinal,
    )
    .join(sessions, sessions.c.id == session_recalls.c.session_id)
    .join(lanes, lanes.c.session_id == session_recalls.c.session_id)
    .where(recalls.IS_PENDING, session_recalls.c.trigger_at <= bindparam("now"))
    .order_by(session_recalls.c.trigger_at)
    .limit(bindparam("most"))
    .with_for_update(key_share=True, of=[session_recalls, sessions, lanes], skip_locked=True)
)
_CLAIM = (
    update(session_recalls)
    .where(session_recalls.c.id.in_(bindparam("ids", expanding=True)))
    .values(status=RecallStatus.RUNNING.value, updated_at=bindparam("now"))
)
_COUNT_MISSED = (
    update(session_recalls)
    .where(session_recalls.c.id == bindparam("key"))
    .values(missed_count=session_recalls.c.missed_count + bindparam("missed"))
)
_COUNT_INPUT = (
    update(lanes)
    .where(lanes.c.session_id.in_(bindparam("ids", expanding=True)))
    .values(next_ordinal=lanes.c.next_ordinal + 1)
)
_TOUCH = (
    update(sessions)
    .where(
        sessions.c.id.in_(bindparam("ids", expanding=True)),
        sessions.c.updated_at < bindparam("now"),
    )
    .values(updated_at=bindparam("now"))
)


def fire(connection: Connection, now: datetime, limit: int, compose: Compose) -> int:
    """Claim recalls that are due and admit their inputs, all or none; returns how many it saw.

    The recall of a busy session is moved instead, that of an ended session cancelled.
    """
    rows = connection.execute(_DUE, {"now": now, "most": limit}).all()
    inputs: list[Input] = []
    missed: list[dict[str, Any]] = []
    for row in rows:
        recall = recall_of(row)
        lane_locked(connection, recall.session_id, row.last_seq, row.user_id)
        if row.state == SessionState.STOPPED:
            recalls.session_ended(connection, recall.session_id, now)
        elif row.turn_id is not None:
            recalls.change(connection, recall, now, trigger_at=now + DEFERRED_BY)
        else:
            passed = _missed(recall, now)
            if passed:
                missed.append({"key": recall.id, "missed": passed})
            inputs.append(_input(row, compose(recall, now, passed), now))
    if inputs:
        _admit(connection, inputs, now)
    if missed:
        connection.execute(_COUNT_MISSED, missed)
    return len(rows)


def _admit(connection: Connection, inputs: list[Input], now: datetime) -> None:
    session_ids = [each.session_id for each in inputs]
    recall_ids = [each.metadata["recall_id"] for each in inputs]
    connection.execute(_CLAIM, {"ids": recall_ids, "now": now})
    connection.execute(_COUNT_INPUT, {"ids": session_ids})
    connection.execute(_TOUCH, {"ids": session_ids, "now": now})
    queue.insert_all(connection, inputs)
    for each in inputs:
        news: list[tuple[str, Payload]] = [
            ("input_queued", {"input": input_json(each)}),
            ("recall_update", {"recall": None}),
        ]
        emit(connection, each.session_id, None, news, each.queued_at or now)


def _input(row: Row[Any], new: NewInput, now: datetime) -> Input:
    return queue.admitted(new, row.next_ordinal, max(now, row.session_updated_at))


def _missed(recall: Recall, now: datetime) -> int:
    if recall.interval_seconds is None:
        return 0
    return next_beat(recall.due_at, recall.interval_seconds, now).missed
