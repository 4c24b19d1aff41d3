"""Schedules, moves and cancels one-off reminders. `due_reminders.py` fires them."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from navi.base.errors import SessionStopped
from navi.live.model.scheduling.reminder import Reminder, ReminderNotFound, ReminderStatus
from navi.live.model.session import SessionState
from navi.live.model.wire_format import reminder_json
from navi.live.store.access import quotas
from navi.live.store.engine import signals
from navi.live.store.engine.tables import scheduled_reminders
from navi.live.store.events import emit
from navi.live.store.lanes import lock

_FIELDS = tuple(field.name for field in fields(Reminder))
IS_PENDING = scheduled_reminders.c.status == ReminderStatus.PENDING.value
_FIND = select(scheduled_reminders).where(scheduled_reminders.c.id == bindparam("reminder_id"))


def schedule(connection: Connection, new: Reminder, limit: int | None = None) -> Reminder:
    """Schedule a reminder. Raises LimitReached if the user's sessions have `limit` pending ones."""
    lane = lock(connection, new.session_id)
    if (existing := find(connection, new.id)) is not None:
        return existing
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(new.session_id)
    quotas.require_room(connection, quotas.REMINDERS, lane.session.user_id, limit)
    values = {name: getattr(new, name) for name in _FIELDS}
    connection.execute(insert(scheduled_reminders).values(**values, due_at=new.fires_at))
    _announce(connection, new, new.created_at)
    signals.send(connection, signals.CLOCK)
    return new


def find(connection: Connection, reminder_id: str) -> Reminder | None:
    row = connection.execute(_FIND, {"reminder_id": reminder_id}).one_or_none()
    return None if row is None else reminder_of(row)


def pending(connection: Connection, session_id: str) -> list[Reminder]:
    """The session's pending reminders, soonest first."""
    query = (
        select(scheduled_reminders)
        .where(IS_PENDING, scheduled_reminders.c.session_id == session_id)
        .order_by(scheduled_reminders.c.fires_at)
    )
    return [reminder_of(row) for row in connection.execute(query)]


def cancel(connection: Connection, reminder_id: str, now: datetime) -> Reminder:
    reminder = find(connection, reminder_id)
    if reminder is None:
        raise ReminderNotFound(reminder_id)
    lock(connection, reminder.session_id)
    # Read it again: it may have fired while we waited for the lane.
    current = find(connection, reminder_id)
    if current is None or current.status is not ReminderStatus.PENDING:
        raise ReminderNotFound(reminder_id)
    return set_status(connection, current, ReminderStatus.CANCELLED, now)


def session_ended(connection: Connection, session_id: str, now: datetime) -> None:
    for each in pending(connection, session_id):
        set_status(connection, each, ReminderStatus.CANCELLED, now)


def pull_forward(connection: Connection, session_id: str, now: datetime) -> None:
    """Restore the original times of reminders that were postponed."""
    for each in pending(connection, session_id):
        move(connection, each, each.fires_at)
        _announce(connection, each, now)
        signals.send(connection, signals.CLOCK)


def move(connection: Connection, reminder: Reminder, due_at: datetime) -> None:
    """Fire the reminder at `due_at` instead; `fires_at` keeps its original time."""
    connection.execute(
        update(scheduled_reminders)
        .where(scheduled_reminders.c.id == reminder.id)
        .values(due_at=due_at)
    )


def set_status(
    connection: Connection, reminder: Reminder, status: ReminderStatus, now: datetime
) -> Reminder:
    changed = replace(reminder, status=status, updated_at=now)
    connection.execute(
        update(scheduled_reminders)
        .where(scheduled_reminders.c.id == reminder.id)
        .values(status=status, updated_at=now)
    )
    _announce(connection, changed, now)
    return changed


def _announce(connection: Connection, reminder: Reminder, now: datetime) -> None:
    events = [("reminder_update", {"reminder": reminder_json(reminder)})]
    emit(connection, reminder.session_id, None, events, now)


def reminder_of(row: Row[Any]) -> Reminder:
    values = {name: getattr(row, name) for name in _FIELDS}
    return Reminder(**{**values, "status": ReminderStatus(values["status"])})
