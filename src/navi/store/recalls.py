"""Recalls: schedule, cancel, skip; record how they ended. `due.py` fires them."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from navi.domain.errors import SessionStopped
from navi.domain.input import Input
from navi.domain.recall import (
    DEFERRED_BY,
    KEPT_FINISHED,
    NoPendingRecall,
    Recall,
    RecallAlreadyPending,
    RecallStatus,
    next_beat,
    skipped,
)
from navi.domain.session import SessionState
from navi.domain.turn import Ending, Outcome
from navi.domain.wire import recall_json
from navi.store import recall_history, signals
from navi.store.coming import Coming
from navi.store.events import emit
from navi.store.lanes import lock
from navi.store.rows import IS_PENDING, recall_of
from navi.store.tables import session_recalls

CANCELLED = "cancelled"
SESSION_ENDED = "the session ended"
REPLACED = "a newer recall took its place"

_INSERT = insert(session_recalls)
_PENDING = select(session_recalls).where(
    session_recalls.c.session_id == bindparam("session_id"), IS_PENDING
)
COMING = Coming(
    select(session_recalls.c.trigger_at).where(IS_PENDING).order_by(session_recalls.c.trigger_at),
    most=16,
)


def schedule(connection: Connection, recall: Recall) -> Recall:
    """Keep the recall; refused while another one of the session is pending."""
    lane = lock(connection, recall.session_id)
    if (known := _find(connection, recall.id)) is not None:
        return known
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(recall.session_id)
    if (other := pending(connection, recall.session_id)) is not None:
        raise RecallAlreadyPending(recall.session_id, other.trigger_at)
    connection.execute(_INSERT, _values(recall))
    recall_history.forget_old(connection, recall.session_id, KEPT_FINISHED)
    _announce(connection, recall.session_id, recall, recall.created_at)
    return recall


def pending(connection: Connection, session_id: str) -> Recall | None:
    row = connection.execute(_PENDING, {"session_id": session_id}).one_or_none()
    return None if row is None else recall_of(row)


def listing(connection: Connection, session_id: str) -> list[Recall]:
    """All recalls of the session, newest first."""
    query = (
        select(session_recalls)
        .where(session_recalls.c.session_id == session_id)
        .order_by(session_recalls.c.created_at.desc(), session_recalls.c.id)
    )
    return [recall_of(row) for row in connection.execute(query)]


def cancel(connection: Connection, session_id: str, now: datetime) -> Recall:
    """Cancel the pending recall, or the further beats of a recurring one that runs right now."""
    lock(connection, session_id)
    recall = pending(connection, session_id) or _running_beat(connection, session_id)
    if recall is None:
        raise NoPendingRecall(session_id)
    return _change(connection, recall, now, status=RecallStatus.CANCELLED, outcome=CANCELLED)


def skip(connection: Connection, session_id: str, now: datetime) -> Recall:
    lock(connection, session_id)
    recall = pending(connection, session_id)
    if recall is None:
        raise NoPendingRecall(session_id)
    at = skipped(recall, now)
    return _change(connection, recall, now, trigger_at=at, due_at=at)


def turn_ended(connection: Connection, ended: Input, ending: Ending, now: datetime) -> None:
    """Record how the turn of a recall ended: fired, failed, or on to its next beat."""
    recall = _find(connection, ended.metadata.get("recall_id", ""))
    if recall is None or recall.status is not RecallStatus.RUNNING:
        return
    end = {"outcome": ending.outcome.value, "error": ending.error}
    if recall.interval_seconds is None:
        failed = ending.outcome is Outcome.ERROR
        status = RecallStatus.CANCELLED if failed else RecallStatus.FIRED
        _change(connection, recall, now, status=status, **end)
    elif pending(connection, recall.session_id) is not None:
        # Its own turn scheduled another one: that is what the session wants from now on.
        end["error"] = end["error"] or REPLACED
        _change(connection, recall, now, status=RecallStatus.FIRED, **end)
    else:
        beat = next_beat(recall.due_at, recall.interval_seconds, now)
        # Those that had passed when it was admitted were counted then; others passed since.
        passed_since = max(0, beat.missed - int(ended.metadata.get("missed_count", 0)))
        _change(
            connection,
            recall,
            now,
            status=RecallStatus.PENDING,
            trigger_at=beat.at,
            due_at=beat.at,
            missed_count=recall.missed_count + passed_since,
            **end,
        )


def pull_forward(connection: Connection, session_id: str, now: datetime) -> Recall | None:
    """The session is idle: what was moved because it was busy is due now. The pending one."""
    recall = pending(connection, session_id)
    if recall is None or not recall.due_at <= now < recall.trigger_at:
        return recall
    return _change(connection, recall, now, trigger_at=now)


def defer(connection: Connection, session_id: str, now: datetime) -> None:
    """The session is busy: the recall is looked at again later."""
    recall = pending(connection, session_id)
    if recall is not None:
        _change(connection, recall, now, trigger_at=now + DEFERRED_BY)


def session_ended(connection: Connection, session_id: str, now: datetime) -> None:
    recall = pending(connection, session_id)
    if recall is not None:
        _change(connection, recall, now, status=RecallStatus.CANCELLED, error=SESSION_ENDED)


def _change(connection: Connection, recall: Recall, now: datetime, **changes: Any) -> Recall:
    changed = replace(recall, **changes, updated_at=now)
    connection.execute(
        update(session_recalls)
        .where(session_recalls.c.id == recall.id)
        .values(**changes, updated_at=now)
    )
    is_pending = changed.status is RecallStatus.PENDING
    _announce(connection, recall.session_id, changed if is_pending else None, now)
    return changed


def _announce(
    connection: Connection, session_id: str, recall: Recall | None, now: datetime
) -> None:
    """Tell the session's pending recall, and wake the clocks: it may be the earliest of all."""
    if recall is None:
        recall = pending(connection, session_id)
    told = None if recall is None else recall_json(recall)
    emit(connection, session_id, None, [("recall_update", {"recall": told})], now)
    if recall is not None:
        signals.send(connection, signals.CLOCK, "")


def _running_beat(connection: Connection, session_id: str) -> Recall | None:
    query = select(session_recalls).where(
        session_recalls.c.session_id == session_id,
        session_recalls.c.status == RecallStatus.RUNNING,
        session_recalls.c.interval_seconds.is_not(None),
    )
    row = connection.execute(query).first()
    return None if row is None else recall_of(row)


def _find(connection: Connection, recall_id: str) -> Recall | None:
    query = select(session_recalls).where(session_recalls.c.id == recall_id)
    row = connection.execute(query).one_or_none()
    return None if row is None else recall_of(row)


def _values(recall: Recall) -> dict[str, Any]:
    return {field.name: getattr(recall, field.name) for field in fields(recall)}
