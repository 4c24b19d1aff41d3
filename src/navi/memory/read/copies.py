"""Messages and tool calls that a resumed or forked session copied from another one.

Counts include each message and call once, in the session that ended first: the sessions with copies
went on after it. A copy has the same text and time as its original, in another session's file.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from duckdb import DuckDBPyConnection

KEYS = {"messages": "t.role", "tool_calls": "t.tool_name"}
TEXTS = {"messages": "t.content, t.thinking", "tool_calls": "t.tool_input"}


def find_copies(
    connection: DuckDBPyConnection,
    table: str,
    in_time: str = "t.timestamp IS NOT NULL",
    moments: Sequence[datetime] = (),
) -> str:
    """Create a temporary table with the `id` and `session_id` of each copy, and return its name.

    `in_time` is a condition on the time of the row `t`, and `moments` are its values. It selects
    a copy together with its original, because both have the same time.
    """
    name = f"copied_{table}"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} (id TEXT, session_id TEXT)")
    key = KEYS[table]
    # Compare times first: few sessions share any, so few texts have to be read.
    candidates = connection.execute(
        "SELECT DISTINCT unnest(sessions) FROM ("
        f"  SELECT list(DISTINCT t.session_id) AS sessions FROM {table} t "
        f"  JOIN sessions s ON s.id = t.session_id WHERE {in_time} "
        f"  GROUP BY s.source, t.timestamp, {key} HAVING min(t.session_id) <> max(t.session_id)"
        ")",
        moments,
    ).fetchall()
    if candidates:
        connection.execute(
            f"INSERT INTO {name} SELECT t.id, t.session_id FROM {table} t "
            "JOIN sessions s ON s.id = t.session_id "
            f"WHERE {in_time} AND t.session_id IN (SELECT unnest(?)) "
            "QUALIFY t.session_id <> first_value(t.session_id) OVER ("
            f"  PARTITION BY s.source, t.timestamp, {key}, hash({TEXTS[table]}) "
            "  ORDER BY coalesce(s.ended_at, 'infinity'), s.id"
            ")",
            [*moments, [row[0] for row in candidates]],
        )
    return name
