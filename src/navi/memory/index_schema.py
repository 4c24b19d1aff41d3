"""The tables of the index.

No keys, no references: DuckDB checks them with an index that a small append would have to load
whole, and the only writer, under the lock, makes ids that can't collide. `docs/decisions/0007`
has the figures.
"""

from __future__ import annotations

from datetime import datetime

from duckdb import CatalogException, DuckDBPyConnection

from navi.memory.index_errors import IndexUnusable
from navi.memory.ingest.write import columns as kinds

VERSION = 1

SESSIONS = [
    ("id", kinds.TEXT),
    ("source", kinds.TEXT),
    ("source_path", kinds.TEXT),
    ("source_session_id", kinds.TEXT),
    ("parent_source_session_id", kinds.TEXT),
    ("is_subagent", kinds.BOOLEAN),
    ("is_warmup", kinds.BOOLEAN),
    ("title", kinds.TEXT),
    ("started_at", kinds.INSTANT),
    ("ended_at", kinds.INSTANT),
    ("duration_seconds", kinds.INTEGER),
    ("model", kinds.TEXT),
    ("cwd", kinds.TEXT),
    ("git_repo", kinds.TEXT),
    ("git_branch", kinds.TEXT),
    ("message_count", kinds.INTEGER),
    ("tool_count", kinds.INTEGER),
    ("input_tokens", kinds.BIGINT),
    ("output_tokens", kinds.BIGINT),
    ("cache_read_tokens", kinds.BIGINT),
    ("cache_creation_tokens", kinds.BIGINT),
    ("is_complete", kinds.BOOLEAN),
    ("bad_lines", kinds.INTEGER),
    ("unknown_kinds", kinds.TEXT),  # JSON: kind -> how many lines
    ("is_archived", kinds.BOOLEAN),  # its file is gone
    ("file_mtime", kinds.DOUBLE),
    ("file_size", kinds.BIGINT),  # -1: not yet read to its end
    ("mark", kinds.TEXT),  # where reading goes on when the file grew
    ("indexed_at", kinds.INSTANT),
    ("texts_pending_from", kinds.INTEGER),  # the full-text lacks messages from this idx on
]
MESSAGES = [
    ("id", kinds.TEXT),
    ("session_id", kinds.TEXT),
    ("idx", kinds.INTEGER),
    ("role", kinds.TEXT),
    ("content", kinds.TEXT),
    ("thinking", kinds.TEXT),
    ("timestamp", kinds.INSTANT),
    ("has_thinking", kinds.BOOLEAN),
]
TOOL_CALLS = [
    ("id", kinds.TEXT),
    ("session_id", kinds.TEXT),
    ("message_id", kinds.TEXT),
    ("message_idx", kinds.INTEGER),
    ("idx", kinds.INTEGER),
    ("tool_name", kinds.TEXT),
    ("tool_input", kinds.TEXT),
    ("bash_command", kinds.TEXT),
    ("bash_base", kinds.TEXT),
    ("bash_sub", kinds.TEXT),
    ("is_compound", kinds.BOOLEAN),
    ("timestamp", kinds.INSTANT),
]
USAGES = [
    ("key", kinds.TEXT),
    ("session_id", kinds.TEXT),
    ("model", kinds.TEXT),
    ("timestamp", kinds.INSTANT),
    ("input_tokens", kinds.BIGINT),
    ("output_tokens", kinds.BIGINT),
    ("cache_read_tokens", kinds.BIGINT),
    ("cache_creation_tokens", kinds.BIGINT),
]
TABLES = {
    "sessions": SESSIONS,
    "messages": MESSAGES,
    "tool_calls": TOOL_CALLS,
    "usages": USAGES,
}

SQL_TYPES = {
    kinds.TEXT: "TEXT",
    kinds.INTEGER: "INTEGER",
    kinds.BIGINT: "BIGINT",
    kinds.INSTANT: "TIMESTAMP",
    kinds.DOUBLE: "DOUBLE",
    kinds.BOOLEAN: "BOOLEAN",
}
IS_SESSION = "NOT is_warmup AND (message_count > 0 OR tool_count > 0)"
"""What counts as a session, wherever sessions are listed or counted: a file in which something was
said or done, by an agent that was not started only to be ready."""
LONG_TEXTS = {"content", "thinking", "tool_input", "bash_command"}
"""Where zstd is named, DuckDB need not try all its ways of packing strings: half the time."""


def create(connection: DuckDBPyConnection, now: datetime) -> None:
    for table, columns in TABLES.items():
        lines = ", ".join(_column(name, kind) for name, kind in columns)
        connection.execute(f"CREATE TABLE {table} ({lines})")
    connection.execute("CREATE TABLE tags (session_id TEXT, tag TEXT, tagged_at TIMESTAMP)")
    connection.execute("CREATE TABLE facts (name TEXT, value TEXT)")
    connection.execute("CREATE TABLE schema_version (version INTEGER, applied_at TIMESTAMP)")
    connection.execute("INSERT INTO schema_version VALUES (?, ?)", [VERSION, _naive(now)])


def check(found: int) -> None:
    if found != VERSION:
        raise IndexUnusable(
            f"the index has schema {found}, this version of recall needs {VERSION}",
            hint="recall index --recreate  (keeps the old index beside the new one)",
        )


def version_of(connection: DuckDBPyConnection) -> int | None:
    """None if the tables are not there at all. Not inside a transaction, which it could end."""
    try:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except CatalogException:
        return None
    return None if row is None else row[0]


def _column(name: str, kind: str) -> str:
    packing = " USING COMPRESSION zstd" if name in LONG_TEXTS else ""
    return f"{name} {SQL_TYPES[kind]}{packing}"


def _naive(moment: datetime) -> datetime:
    """UTC without saying so: the tables hold nothing else."""
    return moment.replace(tzinfo=None)
