"""Schedules, cancels and skips recalls, and records their turns. `due_recalls.py` claims them."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta, tzinfo
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update

from navi.base.errors import SessionStopped
from navi.live.model.input import Input
from navi.live.model.scheduling.recall import (
    CANCELLED_OUTCOME,
    REPLACED_OUTCOME,
    NoPendingRecall,
    Recall,
    RecallAlreadyPending,
    RecallStatus,
    Scheduler,
    fires_after_skip,
    next_occurrence,
    wake_up_id,
)
from navi.live.model.scheduling.scheduled_prompt import recall_prompt
from navi.live.model.session import SessionState
from navi.live.model.turn import Ending, Outcome
from navi.live.model.wire_format import recall_json
from navi.live.store import input_queue
from navi.live.store.access import quotas
from navi.live.store.engine import signals
from navi.live.store.engine.mappers import IS_PENDING, recall_of
from navi.live.store.engine.tables import session_recalls
from navi.live.store.events import emit
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import recall_history

SESSION_ENDED = "the session ended"

_INSERT = insert(session_recalls)
_FIND = select(session_recalls).where(session_recalls.c.id == bindparam("recall_id"))
_PENDING = select(session_recalls).where(
    session_recalls.c.session_id == bindparam("session_id"), IS_PENDING
)


def schedule(
    connection: Connection, recall: Recall, keep_finished: int = 100, limit: int | None = None
) -> Recall:
    """Schedule the recall. Raises LimitReached if its user has `limit` pending recalls.

    Raises RecallAlreadyPending if its session has one. But during the turn of a recurring recall,
    the agent may schedule another recall, which replaces that one. Only the session's newest
    `keep_finished` finished recalls are kept.
    """
    lane = lock(connection, recall.session_id)
    if (existing := _find(connection, recall.id)) is not None:
        return existing
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(recall.session_id)
    if (other := pending(connection, recall.session_id)) is not None:
        if recall.scheduled_by is not Scheduler.AGENT or not _is_running(connection, lane, other):
            raise RecallAlreadyPending(recall.session_id, other.trigger_at)
        changes = {"status": RecallStatus.FIRED, "outcome": REPLACED_OUTCOME, "error": None}
        _change(connection, other, recall.created_at, **changes)
    quotas.require_room(connection, quotas.RECALLS, lane.session.user_id, limit)
    connection.execute(_INSERT, _values(recall))
    recall_history.forget_old(connection, recall.session_id, keep_finished)
    announce(connection, recall.session_id, recall, recall.created_at)
    return recall


def pending(connection: Connection, session_id: str) -> Recall | None:
    row = connection.execute(_PENDING, {"session_id": session_id}).one_or_none()
    return None if row is None else recall_of(row)


def list_recalls(connection: Connection, session_id: str) -> list[Recall]:
    """All recalls of the session, newest first."""
    query = (
        select(session_recalls)
        .where(session_recalls.c.session_id == session_id)
        .order_by(
            session_recalls.c.created_at.desc(),
            session_recalls.c.trigger_at.desc(),
            session_recalls.c.id,
        )
    )
    return [recall_of(row) for row in connection.execute(query)]


def cancel(connection: Connection, session_id: str, now: datetime) -> Recall:
    """Cancel the pending recall and remove its queued input. A turn already running may finish."""
    lane = lock(connection, session_id)
    recall = pending(connection, session_id)
    if recall is None:
        raise NoPendingRecall(session_id)
    _withdraw(connection, lane, recall, now)
    cancelled = {"status": RecallStatus.CANCELLED, "outcome": CANCELLED_OUTCOME, "error": None}
    return _change(connection, recall, now, **cancelled)


def skip(connection: Connection, session_id: str, now: datetime) -> Recall:
    """Skip the next wake-up of a recurring recall."""
    lane = lock(connection, session_id)
    recall = pending(connection, session_id)
    if recall is None:
        raise NoPendingRecall(session_id)
    at = fires_after_skip(recall, now)
    is_withdrawn = _withdraw(connection, lane, recall, now)
    input_id = None if is_withdrawn else recall.input_id
    return _change(connection, recall, now, trigger_at=at, due_at=at, input_id=input_id)


def turn_began(connection: Connection, input: Input, now: datetime, zone: tzinfo) -> Input:
    """Render the recall's prompt and, if it recurs, plan its next wake-up."""
    recall = _of_input(connection, input)
    if recall is None:
        return input
    missed = int(input.metadata.get("missed_count", 0))
    if recall.interval_seconds is None:
        _change(connection, recall, now, status=RecallStatus.RUNNING, trigger_at=recall.due_at)
    elif _is_planned(input, recall):
        following = next_occurrence(recall.due_at, recall.interval_seconds, now)
        missed, at = following.missed, following.at
        total = recall.missed_count + missed
        _change(connection, recall, now, trigger_at=at, due_at=at, missed_count=total)
    if input.prompt is not None or input.is_continuation:
        # An older version of Navi rendered the prompt when it admitted the input.
        return input
    prompt = recall_prompt(input, missed, now, zone).prompt
    metadata = {**input.metadata, "missed_count": missed, "prompt_ref": prompt.reference}
    input_with_prompt = replace(input, prompt=prompt.text, metadata=metadata)
    input_queue.record_prompt(connection, input_with_prompt)
    return input_with_prompt


def turn_undone(connection: Connection, input: Input, now: datetime) -> None:
    """Make the recall pending again for the same wake-up: its turn did nothing."""
    recall = _of_input(connection, input)
    if recall is None:
        return
    if recall.status is RecallStatus.RUNNING:
        if pending(connection, recall.session_id) is None:
            _change(connection, recall, now, status=RecallStatus.PENDING)
        return
    missed = int(input.metadata.get("missed_count", 0))
    if recall.status is not RecallStatus.PENDING or recall.interval_seconds is None:
        return
    at = recall.due_at - (missed + 1) * timedelta(seconds=recall.interval_seconds)
    if input.id == wake_up_id(recall.id, at):  # Otherwise somebody has skipped a wake-up.
        total = recall.missed_count - missed
        _change(connection, recall, now, trigger_at=at, due_at=at, missed_count=total)


def turn_ended(
    connection: Connection, input: Input, ending: Ending, message_id: str | None, now: datetime
) -> None:
    """Record how the turn ended. A recall that recurs waits again."""
    recall = _of_input(connection, input)
    if recall is None or recall.status not in (RecallStatus.PENDING, RecallStatus.RUNNING):
        return
    end: dict[str, Any] = {"outcome": ending.outcome.value, "error": ending.error}
    if recall.interval_seconds is None:
        has_failed = ending.outcome in (Outcome.ERROR, Outcome.LIMIT)
        status = RecallStatus.CANCELLED if has_failed else RecallStatus.FIRED
        _change(connection, recall, now, status=status, **end)
    else:
        _change(connection, recall, now, **_next_wake_up(recall, now), **end)


def turn_limited(connection: Connection, next_input: Input, ending: Ending, now: datetime) -> None:
    """Record that the turn met a usage limit, and continues with `next_input`."""
    recall = _of_input(connection, next_input)
    if recall is None or recall.status not in (RecallStatus.PENDING, RecallStatus.RUNNING):
        return
    end = {"outcome": ending.outcome.value, "error": ending.error}
    if recall.status is RecallStatus.RUNNING and pending(connection, recall.session_id) is not None:
        # Its turn has scheduled the next recall.
        _change(connection, recall, now, status=RecallStatus.FIRED, **end)
        return
    again = {"status": RecallStatus.PENDING, "input_id": next_input.id}
    _change(connection, recall, now, trigger_at=next_input.not_before, **again, **end)


def input_removed(connection: Connection, input: Input, why: str, now: datetime) -> None:
    """Cancel a recall whose input was removed; a recurring one only skips this wake-up.

    If the session ended, recurring recalls are cancelled too.
    """
    recall = _of_input(connection, input)
    if recall is None or recall.status is not RecallStatus.PENDING:
        return
    if recall.interval_seconds is not None and why != SESSION_ENDED:
        was_claimed_early = _is_planned(input, recall) and now < recall.due_at
        passed_at = recall.due_at if was_claimed_early else now
        _change(connection, recall, now, **_next_wake_up(recall, passed_at))
        return
    cancelled = {"status": RecallStatus.CANCELLED, "outcome": CANCELLED_OUTCOME, "error": why}
    _change(connection, recall, now, **cancelled)


def session_ended(connection: Connection, session_id: str, now: datetime) -> None:
    recall = pending(connection, session_id)
    if recall is not None:
        cancelled = {"status": RecallStatus.CANCELLED, "outcome": CANCELLED_OUTCOME}
        _change(connection, recall, now, **cancelled, error=SESSION_ENDED)


def announce(connection: Connection, session_id: str, recall: Recall | None, now: datetime) -> None:
    """Announce the session's pending recall and wake the schedulers: it may be the next one due.

    If `recall` is None, reads the pending one first.
    """
    if recall is None:
        recall = pending(connection, session_id)
    payload = None if recall is None else recall_json(recall)
    emit(connection, session_id, None, [("recall_update", {"recall": payload})], now)
    if recall is not None and recall.input_id is None:
        signals.send(connection, signals.CLOCK)


def _is_running(connection: Connection, lane: Lane, recall: Recall) -> bool:
    """Whether the session's running turn is this recall's."""
    if lane.turn_id is None or recall.input_id is None:
        return False
    inputs = input_queue.delivered_to(connection, lane.turn_id)
    return any(each.id == recall.input_id for each in inputs)


def _withdraw(connection: Connection, lane: Lane, recall: Recall, now: datetime) -> bool:
    """Remove the recall's input from the queue. False if it has none or its turn is running."""
    if recall.input_id is None or _is_running(connection, lane, recall):
        return False
    input_queue.remove(connection, recall.session_id, recall.input_id, now)
    return True


def _is_planned(input: Input, recall: Recall) -> bool:
    """Whether the input belongs to the recall's planned wake-up, not to an earlier one."""
    return input.id == wake_up_id(recall.id, recall.due_at)


def _next_wake_up(recall: Recall, now: datetime) -> dict[str, Any]:
    """The changes that plan the next wake-up. Wake-ups that passed by `now` count as missed."""
    assert recall.interval_seconds is not None
    at, missed = recall.due_at, 0
    if at <= now:
        following = next_occurrence(at, recall.interval_seconds, now)
        at, missed = following.at, following.missed + 1
    changes: dict[str, Any] = {"status": RecallStatus.PENDING, "input_id": None}
    return {**changes, "trigger_at": at, "due_at": at, "missed_count": recall.missed_count + missed}


def _change(connection: Connection, recall: Recall, now: datetime, **changes: Any) -> Recall:
    changed = replace(recall, **changes, updated_at=now)
    connection.execute(
        update(session_recalls)
        .where(session_recalls.c.id == recall.id)
        .values(**changes, updated_at=now)
    )
    is_pending = changed.status is RecallStatus.PENDING
    announce(connection, recall.session_id, changed if is_pending else None, now)
    return changed


def _of_input(connection: Connection, input: Input) -> Recall | None:
    return _find(connection, input.metadata.get("recall_id", ""))


def _find(connection: Connection, recall_id: str) -> Recall | None:
    row = connection.execute(_FIND, {"recall_id": recall_id}).one_or_none()
    return None if row is None else recall_of(row)


def _values(recall: Recall) -> dict[str, Any]:
    return {field.name: getattr(recall, field.name) for field in fields(recall)}
