"""Reads what is scheduled next, across all sessions, in one query."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, exists, func, literal, select, union_all

from navi.live.model.scheduling.agenda import AgendaEntry, AgendaKind, WaitsFor
from navi.live.model.scheduling.automation import HIDDEN_PREFIX
from navi.live.model.session import FIRST_LINE_SEARCH, first_line, title_of
from navi.live.store.engine.mappers import IS_PENDING
from navi.live.store.engine.tables import (
    agent_sessions,
    automations,
    remind_registrations,
    scheduled_reminders,
    session_recalls,
    sessions,
)
from navi.live.store.scheduling import one_time_reminders

ASKS_FOR_STATUS = "Asks for its status"
"""The title of a periodic reminder, which has no message."""
_SESSION_OF_AUTOMATION = func.coalesce(automations.c.session_key, HIDDEN_PREFIX + automations.c.id)


def upcoming(
    connection: Connection, *, user_id: str | None, until: datetime | None = None
) -> list[AgendaEntry]:
    """Recalls, automations and reminders of one user or of all users, soonest first."""
    parts = [
        _entries(
            AgendaKind.RECALL,
            session_recalls.c.trigger_at,
            session_recalls.c.id,
            session_recalls.c.additional_context_message,
            session_recalls.c.session_id,
        ).where(IS_PENDING),
        _entries(
            AgendaKind.AUTOMATION,
            automations.c.next_run_at,
            automations.c.id,
            automations.c.name,
            _SESSION_OF_AUTOMATION,
        ).where(automations.c.enabled, automations.c.next_run_at.is_not(None)),
        _entries(
            AgendaKind.REMINDER,
            scheduled_reminders.c.due_at,
            scheduled_reminders.c.id,
            scheduled_reminders.c.message,
            scheduled_reminders.c.session_id,
        ).where(one_time_reminders.IS_PENDING),
        _entries(
            AgendaKind.REMINDER,
            remind_registrations.c.due_at,
            remind_registrations.c.id,
            literal(ASKS_FOR_STATUS),
            remind_registrations.c.target_session_id,
        ).where(remind_registrations.c.is_active),
    ]
    if user_id is not None:
        parts = [part.where(sessions.c.user_id == user_id) for part in parts]
    if until is not None:
        parts = [part.where(part.selected_columns.at <= until) for part in parts]
    query = union_all(*parts).order_by("at", "kind", "id")
    return [_entry(row) for row in connection.execute(query)]


def _entries(kind: AgendaKind, at: Any, id: Any, text: Any, session_id: Any) -> Select[Any]:
    return select(
        at.label("at"),
        literal(kind.value).label("kind"),
        id.label("id"),
        sessions.c.id.label("session_id"),
        sessions.c.name.label("name"),
        sessions.c.opening.label("opening"),
        # Messages can be a megabyte long, and only their first line is shown.
        func.substr(text, 1, FIRST_LINE_SEARCH).label("text"),
        exists()
        .where(agent_sessions.c.session_id == sessions.c.id, agent_sessions.c.is_open)
        .label("is_open"),
    ).join(sessions, sessions.c.id == session_id)


def _entry(row: Row[Any]) -> AgendaEntry:
    return AgendaEntry(
        at=row.at,
        kind=AgendaKind(row.kind),
        id=row.id,
        session_id=row.session_id,
        session_title=title_of(row.session_id, row.name, row.opening),
        title=first_line(row.text) or "",
        waits_for=WaitsFor.TERMINAL if row.is_open else None,
    )
