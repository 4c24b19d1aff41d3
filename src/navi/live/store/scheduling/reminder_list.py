"""Periodic and one-off reminders in one list."""

from __future__ import annotations

from sqlalchemy import Connection, select

from navi.live.model.scheduling.reminder import Registration, Reminder
from navi.live.store.engine.tables import remind_registrations, scheduled_reminders, sessions
from navi.live.store.scheduling import one_time_reminders, reminders


def upcoming(
    connection: Connection, *, user_id: str | None = None, session_id: str | None = None
) -> list[Registration | Reminder]:
    """Reminders of one session, of one user's sessions, or all of them, soonest first."""
    filters = []
    if user_id is not None:
        filters.append(sessions.c.user_id == user_id)
    if session_id is not None:
        filters.append(sessions.c.id == session_id)
    periodic = (
        select(remind_registrations)
        .join(sessions, sessions.c.id == remind_registrations.c.target_session_id)
        .where(remind_registrations.c.is_active, *filters)
    )
    one_time = (
        select(scheduled_reminders)
        .join(sessions, sessions.c.id == scheduled_reminders.c.session_id)
        .where(one_time_reminders.IS_PENDING, *filters)
    )
    entries: list[Registration | Reminder] = [
        *(reminders.registration_of(row) for row in connection.execute(periodic)),
        *(one_time_reminders.reminder_of(row) for row in connection.execute(one_time)),
    ]
    return sorted(entries, key=lambda each: each.due_at)
