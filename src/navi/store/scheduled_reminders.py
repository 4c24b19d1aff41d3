"""Reminders for once: schedule, cancel, fire."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from navi.domain.errors import SessionStopped
from navi.domain.reminder import (
    Fired,
    Reminder,
    ReminderNotFound,
    ReminderStatus,
    reminder_input,
)
from navi.domain.session import SessionState
from navi.domain.wire import reminder_json
from navi.store import compactions, queue, signals
from navi.store.coming import Coming
from navi.store.events import emit
from navi.store.lanes import lock
from navi.store.tables import lanes, scheduled_reminders, sessions

_FIELDS = tuple(field.name for field in fields(Reminder))
IS_PENDING = scheduled_reminders.c.status == ReminderStatus.PENDING.value
_FIND = select(scheduled_reminders).where(scheduled_reminders.c.id == bindparam("reminder_id"))
COMING = Coming(
    select(scheduled_reminders.c.due_at).where(IS_PENDING).order_by(scheduled_reminders.c.due_at)
)
_DUE = (
    select(scheduled_reminders)
    .join(sessions, sessions.c.id == scheduled_reminders.c.session_id)
    .join(lanes, lanes.c.session_id == scheduled_reminders.c.session_id)
    .where(IS_PENDING, scheduled_reminders.c.due_at <= bindparam("now"))
    .order_by(scheduled_reminders.c.due_at)
    .limit(bindparam("most"))
    .with_for_update(key_share=True, of=[scheduled_reminders, sessions, lanes], skip_locked=True)
)


def schedule(connection: Connection, new: Reminder) -> Reminder:
    lane = lock(connection, new.session_id)
    if (known := find(connection, new.id)) is not None:
        return known
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(new.session_id)
    values = {name: getattr(new, name) for name in _FIELDS}
    connection.execute(insert(scheduled_reminders).values(**values, due_at=new.fires_at))
    _announce(connection, new, new.created_at)
    signals.send(connection, signals.CLOCK, "")
    return new


def find(connection: Connection, reminder_id: str) -> Reminder | None:
    row = connection.execute(_FIND, {"reminder_id": reminder_id}).one_or_none()
    return None if row is None else reminder_of(row)


def pending(connection: Connection, session_id: str) -> list[Reminder]:
    """Those that are to come, the next one first."""
    query = (
        select(scheduled_reminders)
        .where(IS_PENDING, scheduled_reminders.c.session_id == session_id)
        .order_by(scheduled_reminders.c.fires_at)
    )
    return [reminder_of(row) for row in connection.execute(query)]


def cancel(connection: Connection, reminder_id: str, now: datetime) -> Reminder:
    known = find(connection, reminder_id)
    if known is None:
        raise ReminderNotFound(reminder_id)
    lock(connection, known.session_id)
    # Read anew: it may have fired while the lane was waited for.
    current = find(connection, reminder_id)
    if current is None or current.status is not ReminderStatus.PENDING:
        raise ReminderNotFound(reminder_id)
    return _change(connection, current, ReminderStatus.CANCELLED, now)


def session_ended(connection: Connection, session_id: str, now: datetime) -> None:
    for each in pending(connection, session_id):
        _change(connection, each, ReminderStatus.CANCELLED, now)


def pull_forward(connection: Connection, session_id: str, now: datetime) -> None:
    """The agent has compacted its history: what waited for that is due at its own time again."""
    for each in pending(connection, session_id):
        _move(connection, each, each.fires_at)
        _announce(connection, each, now)
        signals.send(connection, signals.CLOCK, "")


def fire(connection: Connection, now: datetime, limit: int) -> Fired:
    """Admit the reminders that are due, all or none. They interrupt whatever runs."""
    fired = Fired()
    for row in connection.execute(_DUE, {"now": now, "most": limit}).all():
        fired.count += 1
        reminder = reminder_of(row)
        lane = lock(connection, reminder.session_id)
        if lane.session.state is SessionState.STOPPED:
            _change(connection, reminder, ReminderStatus.CANCELLED, now)
            continue
        until = compactions.held_until(connection, reminder.session_id)
        if until is not None and until > now:
            _move(connection, reminder, until)
            continue
        queue.keep(connection, lane, reminder_input(reminder), now, None)
        _change(connection, reminder, ReminderStatus.FIRED, now)
        if lane.turn_id is not None:
            fired.interrupted.append((lane.session.id, lane.turn_id))
    return fired


def _move(connection: Connection, reminder: Reminder, due_at: datetime) -> None:
    connection.execute(
        update(scheduled_reminders)
        .where(scheduled_reminders.c.id == reminder.id)
        .values(due_at=due_at)
    )


def _change(
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
    told = [("reminder_update", {"reminder": reminder_json(reminder)})]
    emit(connection, reminder.session_id, None, told, now)


def reminder_of(row: Row[Any]) -> Reminder:
    values = {name: getattr(row, name) for name in _FIELDS}
    return Reminder(**{**values, "status": ReminderStatus(values["status"])})
