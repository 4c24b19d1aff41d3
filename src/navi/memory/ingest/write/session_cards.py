"""A session's card: what a list, and the results of a search, show of it.

It stands in the full-text as a copy of the session's row, so that neither has to ask DuckDB, which
takes long to start and is closed to others while somebody writes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from duckdb import DuckDBPyConnection

from navi.base.timestamps import instant
from navi.memory.index_schema import IS_SESSION
from navi.memory.read.session_lookup import COLUMNS, LATEST
from navi.memory.resume import resume_command


class Card(NamedTuple):
    session_id: str
    source: str
    source_session_id: str | None
    project: str | None
    latest_at: int
    """Microseconds since 1970."""
    is_listed: bool
    """False of a file that does not count as a session."""
    shown: bytes
    """JSON, as `recall list --json` has it, but for tags and masks."""


def cards(connection: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, Card]:
    """As the rows are now, by session id."""
    rows = connection.execute(
        f"SELECT {COLUMNS}, epoch_us({LATEST}), {IS_SESSION} "
        "FROM sessions WHERE id IN (SELECT unnest(?))",
        [list(ids)],
    )
    assert rows.description is not None
    names = [column[0] for column in rows.description[:-2]]
    return {
        row[0]: _card(dict(zip(names, row, strict=False)), *row[-2:]) for row in rows.fetchall()
    }


def _card(session: dict[str, Any], latest_at: int, is_listed: bool) -> Card:
    shown = {name: _written(value) for name, value in session.items()}
    shown["resume_command"] = resume_command(session)
    return Card(
        session["id"],
        session["source"],
        session["source_session_id"],
        session["project"],
        latest_at,
        is_listed,
        json.dumps(shown, ensure_ascii=False).encode(),
    )


def _written(value: Any) -> Any:
    return instant(value.replace(tzinfo=UTC)) if isinstance(value, datetime) else value
