"""A session's card: the values that lists and search results show.

The card is a copy of the session's row in DuckDB, stored in the full-text index. So lists and
searches don't need DuckDB, which is slow to start and locked while another process writes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from duckdb import DuckDBPyConnection

from navi.base.timestamps import instant
from navi.memory.index_schema import IS_SESSION
from navi.memory.read.full_text import turn_terms
from navi.memory.read.session_lookup import COLUMNS, LATEST
from navi.memory.resume import resume_command


class Card(NamedTuple):
    session_id: str
    source: str
    source_session_id: str | None
    project: str | None
    host: str | None
    latest_at: int
    """Microseconds since 1970."""
    is_listed: bool
    """False if the file does not count as a session."""
    turns: list[str]
    """Its turns' origins and outcomes, as `turn_terms` returns them."""
    json: bytes
    """As in `recall list --json`, but without tags and with secrets unmasked."""


def cards(connection: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, Card]:
    """Cards made from the sessions' current rows, by session id."""
    rows = connection.execute(
        f"SELECT {COLUMNS}, host, epoch_us({LATEST}), {IS_SESSION} "
        "FROM sessions WHERE id IN (SELECT unnest(?))",
        [list(ids)],
    )
    assert rows.description is not None
    names = [column[0] for column in rows.description[:-2]]
    sessions = rows.fetchall()
    turns = _turns(connection, ids)
    return {
        row[0]: _card(dict(zip(names, row, strict=False)), row[-2], row[-1], turns.get(row[0], []))
        for row in sessions
    }


def _turns(connection: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, list[str]]:
    turns: dict[str, list[str]] = {}
    for session_id, origin, outcome in connection.execute(
        "SELECT DISTINCT session_id, origin, outcome FROM turns "
        "WHERE session_id IN (SELECT unnest(?)) ORDER BY ALL",
        [list(ids)],
    ).fetchall():
        turns.setdefault(session_id, []).extend(turn_terms(origin, outcome))
    return {id: list(dict.fromkeys(terms)) for id, terms in turns.items()}


def _card(session: dict[str, Any], latest_at: int, is_listed: bool, turns: list[str]) -> Card:
    values = {name: _json_value(value) for name, value in session.items()}
    values["resume_command"] = resume_command(session)
    return Card(
        session["id"],
        session["source"],
        session["source_session_id"],
        session["project"],
        session["host"],
        latest_at,
        is_listed,
        turns,
        json.dumps(values, ensure_ascii=False).encode(),
    )


def _json_value(value: Any) -> Any:
    return instant(value.replace(tzinfo=UTC)) if isinstance(value, datetime) else value
