"""`recall index --recreate`: starts a new index and keeps the old one beside it, named by date.

What can't be read from files again is copied: tags, and sessions whose file is gone.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from navi.memory import database, index_schema
from navi.memory.index_errors import IndexUnusable
from navi.memory.index_paths import Places
from navi.memory.ingest.write import tantivy_writer

REQUIRED = {
    "tags": {"session_id", "tag"},
    "sessions": {"id", "source", "source_path"},
    "messages": {"id", "session_id", "idx", "role", "content"},
    "tool_calls": {"id", "session_id", "idx", "tool_name"},
    "usages": {"key", "session_id"},
}
"""The columns of each table without which its rows are useless."""
TAGS = [("session_id", "TEXT"), ("tag", "TEXT"), ("tagged_at", "TIMESTAMP")]
DEFAULTS = {
    "is_complete": "true",
    "bad_lines": "0",
    "unknown_kinds": "'{}'",
    "mark": "'{}'",
    "file_size": "-1",
}
"""For columns that the old index lacks."""


def start_over(places: Places, now: datetime) -> list[str]:
    """Create the new index, and return warnings about what could not be copied."""
    if not places.database.exists():
        return []
    new = Places(places.database.with_name(f"{places.database.name}.new"))
    _remove(new)
    try:
        warnings = _carry_over(places, new, now)
    except (IndexUnusable, duckdb.Error):
        _remove(new)
        with database.writing(new, now):
            pass
        warnings = [
            "the old index can't be read: its tags, and sessions whose file is gone, are now only"
        ]
    old_path = places.database.with_name(f"{places.database.name}.{now:%Y-%m-%dT%H%M%SZ}.bak")
    os.replace(places.database, old_path)
    if places.write_ahead_log.exists():
        os.replace(places.write_ahead_log, f"{old_path}.wal")
    os.replace(new.database, places.database)
    tantivy_writer.remove(places.texts)
    return [f"{warning} in {old_path}" for warning in warnings]


def finish_interrupted(places: Places) -> None:
    """Complete a `start_over` that was killed between its two renames."""
    new = Places(places.database.with_name(f"{places.database.name}.new"))
    if new.database.exists() and not places.database.exists():
        os.replace(new.database, places.database)


def _carry_over(places: Places, new: Places, now: datetime) -> list[str]:
    """Copy the columns that both indexes have: the old one may be of any version."""
    with database.writing(new, now) as connection:
        connection.execute(f"ATTACH '{_quoted(places.database)}' AS old (READ_ONLY)")
        old = _columns(connection)
        warnings = [
            f"this version can't read the old index's {table}, so they are now only"
            for table in REQUIRED
            if not REQUIRED[table] <= old.get(table, set())
        ]
        if REQUIRED["tags"] <= old.get("tags", set()):
            _copy(connection, "tags", old["tags"], "true")
        if not REQUIRED["sessions"] <= old.get("sessions", set()):
            return warnings
        paths = connection.execute("SELECT id, source_path FROM old.sessions").fetchall()
        gone_ids = [session for session, path in paths if not os.path.exists(path)]
        for table in ("messages", "tool_calls", "usages"):
            if REQUIRED[table] <= old.get(table, set()):
                _copy(connection, table, old[table], "session_id IN (SELECT unnest(?))", gone_ids)
        _copy(connection, "sessions", old["sessions"], "id IN (SELECT unnest(?))", gone_ids)
        connection.execute("UPDATE sessions SET is_archived = true, texts_pending_from = 0")
        for table, column in (("messages", "message_count"), ("tool_calls", "tool_count")):
            connection.execute(
                f"UPDATE sessions SET {column} = "
                f"(SELECT count(*) FROM {table} WHERE session_id = sessions.id)"
            )
        if gone_ids:
            warnings += _warn_about_unknown_columns(old)
    return warnings


def _columns(connection: DuckDBPyConnection) -> dict[str, set[str]]:
    """The old index's columns, by table."""
    columns: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'old'"
    ).fetchall():
        columns.setdefault(table, set()).add(column)
    return columns


def _copy(
    connection: DuckDBPyConnection, table: str, old: set[str], where: str, *values: list[str]
) -> None:
    """Copy the rows that match `where`; columns that the old table lacks get their default."""
    columns = index_schema.TABLES.get(table, TAGS)
    names = ", ".join(name for name, _ in columns)
    expressions = ", ".join(
        f"TRY_CAST({name} AS {kind})" if name in old else _default(name, kind)
        for name, kind in columns
    )
    connection.execute(
        f"INSERT INTO {table} ({names}) SELECT {expressions} FROM old.{table} WHERE {where}",
        list(values),
    )


def _default(name: str, kind: str) -> str:
    if name in DEFAULTS:
        return DEFAULTS[name]
    return {"BOOLEAN": "false", "BIGINT": "0", "DOUBLE": "0"}.get(kind, "NULL")


def _warn_about_unknown_columns(old: dict[str, set[str]]) -> list[str]:
    unknown = [
        f"{table}.{column}"
        for table, columns in index_schema.TABLES.items()
        for column in sorted(old.get(table, set()) - {name for name, _ in columns})
    ]
    if not unknown:
        return []
    return [
        f"this version can't read {', '.join(unknown)}; for sessions whose file is gone, "
        "these values are now only"
    ]


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _remove(places: Places) -> None:
    places.database.unlink(missing_ok=True)
    places.write_ahead_log.unlink(missing_ok=True)
