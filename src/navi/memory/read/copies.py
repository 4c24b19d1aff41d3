"""Messages and tool calls that a resumed or forked session copied from another one.

Every count includes each of them once, in the session that ended first, because the sessions with
copies go on after it. A copy has the same text and time as its original, in another session's file.
"""

from __future__ import annotations

from duckdb import DuckDBPyConnection

KEYS = {"messages": "role", "tool_calls": "tool_name"}
TEXTS = {"messages": "content, t.thinking", "tool_calls": "tool_input"}


def find_copies(connection: DuckDBPyConnection, table: str) -> str:
    """Create a temporary table with the `id` and `session_id` of each copy, and return its name."""
    name = f"copied_{table}"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} (id TEXT, session_id TEXT)")
    key = KEYS[table]
    # Compare times first: few sessions share any, so few texts have to be read.
    candidates = connection.execute(
        "SELECT DISTINCT unnest(sessions) FROM ("
        f"  SELECT list(DISTINCT t.session_id) AS sessions FROM {table} t "
        "  JOIN sessions s ON s.id = t.session_id WHERE t.timestamp IS NOT NULL "
        f"  GROUP BY s.source, t.timestamp, t.{key} HAVING min(t.session_id) <> max(t.session_id)"
        ")"
    ).fetchall()
    if candidates:
        connection.execute(
            f"INSERT INTO {name} SELECT t.id, t.session_id FROM {table} t "
            "JOIN sessions s ON s.id = t.session_id "
            "WHERE t.timestamp IS NOT NULL AND t.session_id IN (SELECT unnest(?)) "
            "QUALIFY t.session_id <> first_value(t.session_id) OVER ("
            f"  PARTITION BY s.source, t.timestamp, t.{key}, hash(t.{TEXTS[table]}) "
            "  ORDER BY coalesce(s.ended_at, 'infinity'), s.id"
            ")",
            [[row[0] for row in candidates]],
        )
    return name
