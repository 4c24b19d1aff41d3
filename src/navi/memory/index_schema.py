"""The tables of the index.

There are no primary or foreign keys: to check them, DuckDB would load all keys for every small
append, and ids can't collide because only one process writes. See `docs/decisions/0007`.
"""

from __future__ import annotations

from datetime import UTC, datetime

from duckdb import CatalogException, DuckDBPyConnection

from navi.memory.hosts.host_source import RECEIVED
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
    ("is_archived", "BOOLEAN"),  # its file is gone; not the `archived` of live sessions
    ("file_mtime", "DOUBLE"),
    ("file_size", "BIGINT"),  # -1: not yet read to its end
    ("mark", "TEXT"),  # where reading continues when the file has grown
    ("indexed_at", "TIMESTAMP"),
    ("texts_pending_from", "INTEGER"),  # the full-text index lacks messages from this idx on
    ("host", "TEXT"),  # the machine that sent it; NULL for this one
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
TOOL_OUTPUTS = [
    ("session_id", "TEXT"),
    ("message_idx", "INTEGER"),
    ("call_idx", "INTEGER"),
    ("tool_name", "TEXT"),
    ("excerpt", "TEXT"),  # see ingest/derived/output_excerpts.py
    ("timestamp", "TIMESTAMP"),
    ("is_error", "BOOLEAN"),  # NULL if the file doesn't say
]
TURNS = [
    ("session_id", "TEXT"),
    ("key", "TEXT"),
    ("origin", "TEXT"),
    ("outcome", "TEXT"),
    ("error", "TEXT"),
    ("timestamp", "TIMESTAMP"),
]
"""How turns ended. A turn may have several rows, all the same."""
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
    "tool_outputs": TOOL_OUTPUTS,
    "turns": TURNS,
    "usages": USAGES,
}

_MESSAGE_ID = "substr(sha256(session_id || ':' || {}), 1, 16)"
COMPUTED = {
    "messages": {"id": _MESSAGE_ID.format("idx")},
    "tool_calls": {
        "message_id": _MESSAGE_ID.format("message_idx"),  # NULL outside messages
        "id": "substr(sha256(coalesce(message_id || ':', session_id || ':orphan:') || idx), 1, 16)",
    },
}
"""Columns that DuckDB computes when rows are inserted: the same ids as in `record_ids`, but several
times as fast. Each column may use the ones before it."""

IS_SESSION = "NOT is_warmup AND (message_count > 0 OR tool_count > 0)"
"""The SQL condition for what is listed and counted as a session: a file with messages or tool calls
that is not a warm-up (`PastSession.is_warmup`)."""
READER = f"CASE WHEN host IS NULL THEN source ELSE '{RECEIVED}' END"
"""The SQL expression for the name of the source that reads a session's file."""
LONG_TEXTS = {"content", "thinking", "tool_input", "bash_command", "excerpt"}
"""Columns compressed with zstd. If DuckDB had to choose, it would try every string compression, and
writing would take twice as long."""


def create(connection: DuckDBPyConnection, now: datetime) -> None:
    create_missing_tables(connection)
    connection.execute("CREATE TABLE tags (session_id TEXT, tag TEXT, tagged_at TIMESTAMP)")
    connection.execute("CREATE TABLE facts (name TEXT, value TEXT)")
    connection.execute("CREATE TABLE schema_version (version INTEGER, applied_at TIMESTAMP)")
    connection.execute("INSERT INTO schema_version VALUES (?, ?)", [VERSION, naive(now)])


def create_missing_tables(connection: DuckDBPyConnection) -> None:
    """Bring an earlier version's index up to date; that version ignores the additions."""
    for table, columns in TABLES.items():
        lines = ", ".join(_column(name, kind) for name, kind in columns)
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({lines})")
    connection.execute("ALTER TABLE tool_outputs ADD COLUMN IF NOT EXISTS is_error BOOLEAN")
    connection.execute("ALTER TABLE sessions ADD COLUMN IF NOT EXISTS host TEXT")


def has_hosts(connection: DuckDBPyConnection) -> bool:
    """Whether `sessions` has the column `host`, which an earlier version's index may lack."""
    row = connection.execute(
        "SELECT 1 FROM duckdb_columns() WHERE table_name = 'sessions' AND column_name = 'host'"
    ).fetchone()
    return row is not None


def incoming(table: str) -> list[tuple[str, str]]:
    """The columns of a table that are inserted, not computed."""
    return [column for column in TABLES[table] if column[0] not in COMPUTED.get(table, {})]


def insertion(table: str) -> str:
    """The statement that inserts the rows registered as `incoming`."""
    rows = "SELECT * FROM incoming"
    for name, expression in COMPUTED.get(table, {}).items():
        rows = f"SELECT *, {expression} AS {name} FROM ({rows})"
    return f"INSERT INTO {table} BY NAME {rows}"


def check(version: int) -> None:
    if version != VERSION:
        raise IndexUnusable(
            f"the index has schema {version}, but this version of recall needs {VERSION}",
            hint="recall index --recreate  (keeps the old index beside the new one)",
        )


def version_of(connection: DuckDBPyConnection) -> int | None:
    """None without tables. Call it outside a transaction, which a missing table would abort."""
    try:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except CatalogException:
        return None
    return None if row is None else row[0]


def _column(name: str, kind: str) -> str:
    compression = " USING COMPRESSION zstd" if name in LONG_TEXTS else ""
    return f"{name} {kind}{compression}"


def naive(moment: datetime) -> datetime:
    """The moment as the tables store it: in UTC, without a time zone."""
    return moment.astimezone(UTC).replace(tzinfo=None)
