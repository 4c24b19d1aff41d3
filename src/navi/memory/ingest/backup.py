"""`recall index --recreate`: starts a new index and keeps the old one beside it, named by date.

Data that can't be read from files again is copied: tags, and sessions whose file is gone.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import duckdb
from duckdb import DuckDBPyConnection

from navi.memory import database, index_schema
from navi.memory.index_errors import IndexUnusable
from navi.memory.index_paths import IndexPaths
from navi.memory.ingest.write import tantivy_writer

REQUIRED = {
    "tags": {"session_id", "tag"},
    "sessions": {"id", "source", "source_path"},
    "messages": {"id", "session_id", "idx", "role", "content"},
    "tool_calls": {"id", "session_id", "idx", "tool_name"},
    "usages": {"key", "session_id"},
}
"""By table, the columns without which its rows are useless."""
LATER = {
    "tool_outputs": {"session_id", "call_idx", "excerpt"},
    "turns": {"session_id", "key", "outcome"},
}
"""The same for tables that the first versions lack."""
TAGS_COLUMNS = [("session_id", "TEXT"), ("tag", "TEXT"), ("tagged_at", "TIMESTAMP")]
DEFAULTS = {
    "is_complete": "true",
    "bad_lines": "0",
    "unknown_kinds": "'{}'",
    "mark": "'{}'",
    "file_size": "-1",
}
"""SQL values for columns that the old index lacks."""


def start_over(paths: IndexPaths, now: datetime) -> list[str]:
    """Replace any old index with a new one, and return warnings about what could not be copied."""
    if not paths.database.exists():
        return []
    new = IndexPaths(paths.database.with_name(f"{paths.database.name}.new"))
    _remove(new)
    try:
        warning_beginnings = _carry_over(paths, new, now)
    except (IndexUnusable, duckdb.Error):
        _remove(new)
        with database.writing(new, now):
            pass
        warning_beginnings = [
            "the old index can't be read: its tags, and sessions whose file is gone, are now only"
        ]
    old_path = paths.database.with_name(f"{paths.database.name}.{now:%Y-%m-%dT%H%M%SZ}.bak")
    os.replace(paths.database, old_path)
    if paths.write_ahead_log.exists():
        os.replace(paths.write_ahead_log, f"{old_path}.wal")
    os.replace(new.database, paths.database)
    tantivy_writer.remove(paths.texts)
    return [f"{warning} in {old_path}" for warning in warning_beginnings]


def finish_interrupted(paths: IndexPaths) -> None:
    """Complete a `start_over` that was killed between its renames."""
    new = IndexPaths(paths.database.with_name(f"{paths.database.name}.new"))
    if new.database.exists() and not paths.database.exists():
        os.replace(new.database, paths.database)


def _carry_over(paths: IndexPaths, new: IndexPaths, now: datetime) -> list[str]:
    """Copy the tags, and the sessions whose file is gone. The old index may be of any version.

    Returns warnings to which the caller adds the path of the old index.
    """
    with database.writing(new, now) as connection:
        connection.execute(f"ATTACH '{_quoted(paths.database)}' AS old (READ_ONLY)")
        old_columns = _old_columns(connection)
        warnings = [
            f"this version can't read the old index's {table}, so they are now only"
            for table in REQUIRED
            if not REQUIRED[table] <= old_columns.get(table, set())
        ]
        if REQUIRED["tags"] <= old_columns.get("tags", set()):
            _copy(connection, "tags", old_columns["tags"], "true")
        if not REQUIRED["sessions"] <= old_columns.get("sessions", set()):
            return warnings
        rows = connection.execute("SELECT id, source_path FROM old.sessions").fetchall()
        gone_ids = [id for id, path in rows if not os.path.exists(path)]
        for table in ("messages", "tool_calls", "tool_outputs", "usages", "turns"):
            if {**REQUIRED, **LATER}[table] <= old_columns.get(table, set()):
                _copy(
                    connection,
                    table,
                    old_columns[table],
                    "session_id IN (SELECT unnest(?))",
                    gone_ids,
                )
        _copy(connection, "sessions", old_columns["sessions"], "id IN (SELECT unnest(?))", gone_ids)
        connection.execute("UPDATE sessions SET is_archived = true, texts_pending_from = 0")
        for table, column in (("messages", "message_count"), ("tool_calls", "tool_count")):
            connection.execute(
                f"UPDATE sessions SET {column} = "
                f"(SELECT count(*) FROM {table} WHERE session_id = sessions.id)"
            )
        if gone_ids:
            warnings += _warn_about_unknown_columns(old_columns)
    return warnings


def _old_columns(connection: DuckDBPyConnection) -> dict[str, set[str]]:
    """The old index's columns, by table."""
    columns: dict[str, set[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'old'"
    ).fetchall():
        columns.setdefault(table, set()).add(column)
    return columns


def _copy(
    connection: DuckDBPyConnection,
    table: str,
    old_columns: set[str],
    where: str,
    *values: list[str],
) -> None:
    """Copy the rows that match `where`; columns that the old table lacks get their default."""
    columns = index_schema.TABLES.get(table, TAGS_COLUMNS)
    names = ", ".join(name for name, _ in columns)
    expressions = ", ".join(
        f"TRY_CAST({name} AS {kind})" if name in old_columns else _default(name, kind)
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


def _warn_about_unknown_columns(old_columns: dict[str, set[str]]) -> list[str]:
    unknown = [
        f"{table}.{column}"
        for table, columns in index_schema.TABLES.items()
        for column in sorted(old_columns.get(table, set()) - {name for name, _ in columns})
    ]
    if not unknown:
        return []
    return [
        f"this version can't read {', '.join(unknown)}; for sessions whose file is gone, "
        "these values are now only"
    ]


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _remove(paths: IndexPaths) -> None:
    paths.database.unlink(missing_ok=True)
    paths.write_ahead_log.unlink(missing_ok=True)
