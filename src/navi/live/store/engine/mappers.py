"""Turns rows into values, for rows that more than one file reads."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sqlalchemy import Row, and_, exists, literal_column, select

from navi.live.model.input import Origin
from navi.live.model.permission_policy import OnPermission
from navi.live.model.scheduling.recall import CallType, Recall, RecallStatus, Scheduler
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Outcome
from navi.live.store.engine.tables import message_queue, session_recalls, sessions

_RECALL_FIELDS = tuple(field.name for field in fields(Recall))
_PREFIX = "pending_"

# A literal, not a parameter: with a parameter, PostgreSQL could not use its partial index of
# pending recalls, and would plan the statement again each time.
IS_PENDING = session_recalls.c.status == literal_column(f"'{RecallStatus.PENDING.value}'")

HAS_QUEUE = exists().where(
    message_queue.c.session_id == sessions.c.id, message_queue.c.delivered_at.is_(None)
)
"""Whether inputs are waiting in the row's session."""
_COLUMNS: tuple[Any, ...] = (
    sessions,
    HAS_QUEUE.label("has_queue"),
    *(session_recalls.c[name].label(_PREFIX + name) for name in _RECALL_FIELDS),
)
_ITS_PENDING_RECALL = and_(session_recalls.c.session_id == sessions.c.id, IS_PENDING)
SESSIONS = select(*_COLUMNS).join_from(sessions, session_recalls, _ITS_PENDING_RECALL, isouter=True)
"""All sessions, each with its pending recall, if it has one."""
SESSIONS_WITH_RECALL = select(*_COLUMNS).join_from(sessions, session_recalls, _ITS_PENDING_RECALL)
"""Only sessions that have a pending recall."""


def session_of(row: Row[Any]) -> Session:
    """The session in a row of `SESSIONS`."""
    return Session(
        id=row.id,
        name=row.name,
        driver=row.driver,
        model=row.model,
        cwd=row.cwd,
        parent_id=row.parent_id,
        user_id=row.user_id,
        state=SessionState(row.state),
        task=row.task,
        agent_status_text=row.agent_status_text,
        agent_status_at=row.agent_status_at,
        context_from_idx=row.context_from_idx,
        created_at=row.created_at,
        updated_at=row.updated_at,
        pending=None if row.pending_id is None else recall_of(row, _PREFIX),
        opening=row.opening,
        opening_origin=None if row.opening_origin is None else Origin(row.opening_origin),
        program=row.program,
        last_outcome=None if row.last_outcome is None else Outcome(row.last_outcome),
        limit_until=row.limit_until,
        unread=row.unread,
        pinned=row.pinned,
        archived=row.archived,
        notify_person=row.notify_person,
        has_queue=row.has_queue,
        waiting_for=row.waiting_for,
        on_permission=None if row.on_permission is None else OnPermission(row.on_permission),
        question_deadline_minutes=row.question_deadline_minutes,
        paused_by=row.paused_by,
        pause_reason=row.pause_reason,
        paused_until=row.paused_until,
    )


def recall_of(row: Row[Any], prefix: str = "") -> Recall:
    values = {name: getattr(row, prefix + name) for name in _RECALL_FIELDS}
    values["call_type"] = CallType(values["call_type"])
    values["status"] = RecallStatus(values["status"])
    values["scheduled_by"] = Scheduler(values["scheduled_by"])
    return Recall(**values)
