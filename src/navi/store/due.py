"""Recalls that are due: claimed and admitted as inputs, many in one transaction.

A thousand recalls may be due at the same instant, and each would like to be on time. So what they
become is made a moment ahead, and at the instant itself each costs a few rows and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, select, update

from navi.domain.input import Input, NewInput
from navi.domain.recall import Recall, RecallStatus, next_beat
from navi.domain.session import SessionState
from navi.domain.wire import input_json
from navi.store import queue, recalls
from navi.store.bulk import many
from navi.store.events import emit_each, lane_locked
from navi.store.rows import recall_of
from navi.store.tables import lanes, session_recalls, sessions

Compose = Callable[[Recall, datetime, int], NewInput]
"""Makes the input of a recall that fires now, with so many beats missed."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What a recall becomes if it fires within the second in which it is due."""

    version: datetime
    """When the recall was last changed: if that moved, this is void."""
    new: NewInput


EVENTS_PER_RECALL = 2

# Whoever is writing to a session right now is not waited for: it is looked at again in a moment.
_DUE = (
    select(
        session_recalls.c.id,
        session_recalls.c.session_id,
        session_recalls.c.due_at,
        session_recalls.c.updated_at,
        sessions.c.state,
        sessions.c.updated_at,
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
    .with_for_update(key_share=True, of=[session_recalls, lanes], skip_locked=True)
)
_UPCOMING = (
    select(session_recalls)
    .where(
        recalls.IS_PENDING,
        session_recalls.c.trigger_at > bindparam("now"),
        session_recalls.c.trigger_at <= bindparam("until"),
        session_recalls.c.trigger_at == session_recalls.c.due_at,
    )
    .limit(bindparam("most"))
)
_FULL = many(lambda among: select(session_recalls).where(among(session_recalls.c.id)))
_CLAIM = many(
    lambda among: (
        update(session_recalls)
        .where(among(session_recalls.c.id))
        .values(status=RecallStatus.RUNNING.value, updated_at=bindparam("now"))
    )
)
_COUNT_MISSED = (
    update(session_recalls)
    .where(session_recalls.c.id == bindparam("key"))
    .values(missed_count=session_recalls.c.missed_count + bindparam("missed"))
)
_COUNT = many(
    lambda among: (
        update(lanes)
        .where(among(lanes.c.session_id))
        .values(
            next_ordinal=lanes.c.next_ordinal + 1, last_seq=lanes.c.last_seq + EVENTS_PER_RECALL
        )
    )
)


def upcoming(connection: Connection, now: datetime, until: datetime, limit: int) -> list[Recall]:
    """Recalls that will be due, as planned, until then."""
    asked = {"now": now, "until": until, "most": limit}
    return [recall_of(row) for row in connection.execute(_UPCOMING, asked)]


def fire(
    connection: Connection,
    now: datetime,
    limit: int,
    compose: Compose,
    ready: Mapping[str, Ready] | None = None,
) -> int:
    """Claim recalls that are due and admit their inputs, all or none; returns how many it saw.

    The recall of a busy session is moved instead, that of an ended session cancelled.
    """
    rows = connection.execute(_DUE, {"now": now, "most": limit}).all()
    # Only these: composing counts what was missed, and a recall that is moved comes here again.
    firing = [row for row in rows if row.state != SessionState.STOPPED and row.turn_id is None]
    composed = _composed(connection, firing, now, compose, ready or {})
    inputs: list[Input] = []
    for id_, session_id, _, _, state, changed_at, user_id, turn_id, last_seq, ordinal in rows:
        lane_locked(connection, session_id, last_seq, user_id)
        if state == SessionState.STOPPED:
            recalls.session_ended(connection, session_id, now)
        elif turn_id is not None:
            recalls.defer(connection, session_id, now)
        else:
            inputs.append(queue.admitted(composed[id_], ordinal, max(now, changed_at)))
    if inputs:
        _admit(connection, inputs, now)
    return len(rows)


def _composed(
    connection: Connection,
    rows: Sequence[Row[*tuple[Any, ...]]],
    now: datetime,
    compose: Compose,
    ready: Mapping[str, Ready],
) -> dict[str, NewInput]:
    """The inputs that the recalls become, made ahead or now."""
    second = now.replace(microsecond=0)
    composed: dict[str, NewInput] = {}
    for id_, _, due_at, updated_at, *_ in rows:
        known = ready.get(id_)
        if known and known.version == updated_at and second <= due_at:
            composed[id_] = known.new
    if missing := [row.id for row in rows if row.id not in composed]:
        late: list[dict[str, Any]] = []
        for row in connection.execute(_FULL[connection.dialect.name], {"ids": missing}):
            recall = recall_of(row)
            missed = _missed(recall, now)
            composed[recall.id] = compose(recall, now, missed)
            if missed:
                late.append({"key": recall.id, "missed": missed})
        if late:
            connection.execute(_COUNT_MISSED, late)
    return composed


def _admit(connection: Connection, inputs: list[Input], now: datetime) -> None:
    kind = connection.dialect.name
    recall_ids = [each.metadata["recall_id"] for each in inputs]
    connection.execute(_CLAIM[kind], {"ids": recall_ids, "now": now})
    connection.execute(_COUNT[kind], {"ids": [each.session_id for each in inputs]})
    queue.insert_all(connection, inputs)
    no_more = ("recall_update", {"recall": None})
    emit_each(
        connection,
        [
            (each.session_id, [("input_queued", {"input": input_json(each)}), no_more])
            for each in inputs
        ],
        now,
    )


def _missed(recall: Recall, now: datetime) -> int:
    if recall.interval_seconds is None:
        return 0
    return next_beat(recall.due_at, recall.interval_seconds, now).missed
