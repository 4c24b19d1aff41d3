"""The tables of the index.

There are no primary or foreign keys: to check them, DuckDB would load a whole index for every small
append, and ids can't collide because only one process writes. See `docs/decisions/0007`.
"""

from __future__ import annotations

from datetime import UTC, datetime

from duckdb import CatalogException, DuckDBPyConnection

from navi.memory.index_errors import IndexUnusable

VERSION = 1

SESSIONS = [
    ("id", "TEXT"),
    ("source", "TEXT"),
    ("source_path", "TEXT"),
    ("source_session_id", "TEXT"),
    ("parent_source_session_id", "TEXT"),
    ("is_subagent", "BOOLEAN"),
    ("is_warmup", "BOOLEAN"),
    ("title", "TEXT"),
    ("started_at", "TIMESTAMP"),
    ("ended_at", "TIMESTAMP"),
    ("duration_seconds", "INTEGER"),
    ("model", "TEXT"),
    ("cwd", "TEXT"),
    ("git_repo", "TEXT"),
    ("git_branch", "TEXT"),
    ("message_count", "INTEGER"),
    ("tool_count", "INTEGER"),
    ("input_tokens", "BIGINT"),
    ("output_tokens", "BIGINT"),
    ("cache_read_tokens", "BIGINT"),
    ("cache_creation_tokens", "BIGINT"),
    ("is_complete", "BOOLEAN"),
    ("bad_lines", "INTEGER"),
    ("unknown_kinds", "TEXT"),  # JSON: kind -> number of lines
    ("is_archived", "BOOLEAN"),  # its file is gone
    ("file_mtime", "DOUBLE"),
    ("file_size", "BIGINT"),  # -1: not yet read to its end
    ("mark", "TEXT"),  # where reading continues when the file has grown
    ("indexed_at", "TIMESTAMP"),
    ("texts_pending_from", "INTEGER"),  # the full-text index lacks messages from this idx on
]
MESSAGES = [
    ("id", "TEXT"),
    ("session_id", "TEXT"),
    ("idx", "INTEGER"),
    ("role", "TEXT"),
    ("content", "TEXT"),
    ("thinking", "TEXT"),
    ("timestamp", "TIMESTAMP"),
    ("has_thinking", "BOOLEAN"),
]
TOOL_CALLS = [
    ("id", "TEXT"),
    ("session_id", "TEXT"),
    ("message_id", "TEXT"),
    ("message_idx", "INTEGER"),
    ("idx", "INTEGER"),
    ("tool_name", "TEXT"),
    ("tool_input", "TEXT"),
    ("bash_command", "TEXT"),
    ("bash_base", "TEXT"),
    ("bash_sub", "TEXT"),
    ("is_compound", "BOOLEAN"),
    ("timestamp", "TIMESTAMP"),
]
USAGES = [
    ("key", "TEXT"),
    ("session_id", "TEXT"),
    ("model", "TEXT"),
    ("timestamp", "TIMESTAMP"),
    ("input_tokens", "BIGINT"),
    ("output_tokens", "BIGINT"),
    ("cache_read_tokens", "BIGINT"),
    ("cache_creation_tokens", "BIGINT"),
]
TABLES = {
    "sessions": SESSIONS,
    "messages": MESSAGES,
    "tool_calls": TOOL_CALLS,
    "usages": USAGES,
}

IS_SESSION = "NOT is_warmup AND (message_count > 0 OR tool_count > 0)"
"""What counts as a session wherever sessions are listed or counted: a file with messages or tool
calls, by an agent that was not started only to be ready."""
LONG_TEXTS = {"content", "thinking", "tool_input", "bash_command"}
"""Columns compressed with zstd. If DuckDB had to choose, it would try every string compression, and
writing would take twice as long."""


def create(connection: DuckDBPyConnection, now: datetime) -> None:
    for table, columns in TABLES.items():
        lines = ", ".join(_column(name, kind) for name, kind in columns)
        connection.execute(f"CREATE TABLE {table} ({lines})")
    connection.execute("CREATE TABLE tags (session_id TEXT, tag TEXT, tagged_at TIMESTAMP)")
    connection.execute("CREATE TABLE facts (name TEXT, value TEXT)")
    connection.execute("CREATE TABLE schema_version (version INTEGER, applied_at TIMESTAMP)")
    connection.execute("INSERT INTO schema_version VALUES (?, ?)", [VERSION, naive(now)])


def check(version: int) -> None:
    if version != VERSION:
        raise IndexUnusable(
            f"the index has schema {version}, but this version of recall needs {VERSION}",
            hint="recall index --recreate  (keeps the old index beside the new one)",
        )


def version_of(connection: DuckDBPyConnection) -> int | None:
    """None if there are no tables. Must not run inside a transaction, which an error would end."""
    try:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except CatalogException:
        return None
    return None if row is None else row[0]


def _column(name: str, kind: str) -> str:
    compression = " USING COMPRESSION zstd" if name in LONG_TEXTS else ""
    return f"{name} {kind}{compression}"


def naive(moment: datetime) -> datetime:
    """The moment as the tables hold it: in UTC, without a time zone."""
    return moment.astimezone(UTC).replace(tzinfo=None)
