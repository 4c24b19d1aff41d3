"""The record of rows that could not be read, computed or carried out.

Such a row is ended or deleted, so that it never blocks the others. Its content and the reason are
recorded here. A notice is posted in its session, and `navi doctor` lists it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from navi.base.errors import NaviError
from navi.base.ids import new_id
from navi.live.model.input import Origin
from navi.live.model.message import Notice
from navi.live.store import transcript
from navi.live.store.engine import tables
from navi.live.store.engine.dialects.registry import dialect_of
from navi.live.store.lanes import lock

log = logging.getLogger("navi.store")

QUOTED_CHARACTERS = 10_000
"""How much of a bad row's content is recorded."""

_TABLES: dict[str, tuple[Table, str]] = {
    "recall": (tables.session_recalls, "id"),
    "automation": (tables.automations, "id"),
    "nudge": (tables.remind_registrations, "id"),
    "reminder": (tables.scheduled_reminders, "id"),
    "question": (tables.questions, "id"),
    "notification": (tables.notifications, "id"),
    "input": (tables.message_queue, "id"),
    "turn": (tables.turns, "id"),
    "terminal": (tables.agent_sessions, "agent_session_id"),
}


@dataclass(frozen=True, slots=True)
class Reference:
    """Names a bad row and its session."""

    row_id: str
    session_id: str | None


@dataclass(frozen=True, slots=True)
class SetAside:
    """An entry of the record: which row was set aside, and why."""

    id: str
    kind: str
    row_id: str
    session_id: str | None
    error: str
    content: str
    created_at: datetime


def is_damage(connection: Connection, error: Exception) -> bool:
    """Whether the row is damaged: the error is neither a refusal nor one that a retry may fix."""
    if isinstance(error, NaviError):
        return False
    dialect = dialect_of(connection.dialect)
    return not (isinstance(error, DBAPIError) and dialect.is_transient(error))


def record(
    connection: Connection, kind: str, reference: Reference, error: str, now: datetime
) -> None:
    """Record the row's content and what is wrong with it."""
    connection.execute(
        insert(tables.set_aside).values(
            id=new_id(),
            kind=kind,
            row_id=reference.row_id,
            session_id=reference.session_id,
            error=error,
            content=_content(connection, kind, reference.row_id),
            created_at=now,
        )
    )


def take_out(
    connection: Connection,
    table: Table,
    row_id: str,
    changes: Mapping[str, Any],
    read: Callable[[Row[Any]], object],
) -> None:
    """End the row by applying `changes`. If it still can't be read, delete it."""
    is_row = table.c.id == row_id
    try:
        with connection.begin_nested():
            connection.execute(update(table).where(is_row).values(**changes))
            read(connection.execute(select(table).where(is_row)).one())
    except Exception:
        connection.execute(delete(table).where(is_row))


def show(
    connection: Connection, kind: str, reference: Reference, error: str, now: datetime
) -> None:
    """Post a notice in the row's session, if there is one that can be read."""
    if reference.session_id is None:
        return
    notice = Notice(
        id=new_id(),
        content=f"Navi set aside a damaged {kind} ({reference.row_id}): {error}",
        source=Origin.AUTOMATION if kind == "automation" else Origin.RECALL,
        metadata={"set_aside": kind},
    )
    try:
        with connection.begin_nested():
            lane = lock(connection, reference.session_id)
            transcript.post(connection, lane, notice, lane.clamp(now))
    except Exception:
        log.exception("can't post a notice in session %s", reference.session_id)


def list_rows(connection: Connection, limit: int = 100) -> list[SetAside]:
    """The newest entries, newest first."""
    query = select(tables.set_aside).order_by(tables.set_aside.c.created_at.desc()).limit(limit)
    return [SetAside(*row) for row in connection.execute(query)]


def reason_of(error: BaseException) -> str:
    """The error in one line."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _content(connection: Connection, kind: str, row_id: str) -> str:
    """The row's columns as plain text, because reading them as values failed."""
    table, key = _TABLES[kind]
    columns = ", ".join(f'CAST("{column.name}" AS text)' for column in table.columns)
    query = text(f"SELECT {columns} FROM {table.name} WHERE {key} = :row_id")
    row: Any = connection.execute(query, {"row_id": row_id}).first()
    values = zip(table.columns.keys(), row or (), strict=False)
    return "\n".join(f"{name}: {value}" for name, value in values)[:QUOTED_CHARACTERS]
