"""Reads the rows of the index that a digest is made from, with a few queries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duckdb import BinderException, CatalogException, DuckDBPyConnection

from navi.memory.index_errors import IndexUnusable
from navi.memory.index_schema import IS_SESSION, naive
from navi.memory.ingest.derived.touched_files import PATCH_HEADING, PATH_ARGUMENTS
from navi.memory.overview.changed_paths import CHANGING
from navi.memory.overview.command_kinds import COMMIT, TEST
from navi.memory.read.copies import find_copies
from navi.memory.read.session_lookup import as_dicts
from navi.memory.read.statistics import Scope, tokens

Row = dict[str, Any]

_SESSIONS = f"""
    SELECT s.id, s.source, s.title, coalesce(s.git_repo, s.cwd) AS project, s.is_subagent,
           m.messages, m.prompts, m.last_at, m.last_role
    FROM (
        SELECT t.session_id, count(*) AS messages, count(*) FILTER (t.role = 'user') AS prompts,
               max(t.timestamp) AS last_at, arg_max(t.role, t.idx) AS last_role
        FROM messages t {{without_copies}} WHERE {{in_time}} GROUP BY t.session_id
    ) m JOIN sessions s ON s.id = m.session_id
    WHERE {IS_SESSION} AND {{in_scope}} ORDER BY m.last_at DESC, s.id
"""
_COMMANDS = f"""
    SELECT t.session_id, t.bash_command, o.is_error, o.excerpt, t.timestamp
    FROM tool_calls t {{without_copies}}
    LEFT JOIN tool_outputs o ON o.session_id = t.session_id AND o.call_idx = t.idx
         AND o.message_idx IS NOT DISTINCT FROM t.message_idx
    WHERE {{in_time}} AND t.bash_command IS NOT NULL
      AND regexp_matches(left(t.bash_command, 4000), '{
    "|".join(f"(?:{pattern.replace(chr(39), chr(39) * 2)})" for pattern in (COMMIT, TEST))
}')
    ORDER BY t.timestamp
"""
# As in touched_files.py, but within the JSON text of a call: here DuckDB reads all calls at once.
_PATH = rf'"(?:{"|".join(sorted(PATH_ARGUMENTS))})"\s*:\s*\[?\s*"((?:[^"\\]|\\.)+)"'
_PATCHED = rf'{PATCH_HEADING}([^\\"]+)'
_CHANGES = f"""
    SELECT session_id, path, count(*) AS changes FROM (
        SELECT t.session_id, unnest(list_distinct(coalesce(
            nullif(regexp_extract_all(t.tool_input, '{_PATH}', 1), []),
            regexp_extract_all(t.tool_input, '{_PATCHED}', 1)
        ))) AS path
        FROM tool_calls t {{without_copies}}
        LEFT JOIN tool_outputs o ON o.session_id = t.session_id AND o.call_idx = t.idx
             AND o.message_idx IS NOT DISTINCT FROM t.message_idx
        WHERE {{in_time}} AND o.is_error IS NOT TRUE
          AND (regexp_matches(lower(t.tool_name), '{"|".join(CHANGING)}')
               OR starts_with(t.bash_command, 'apply_patch'))
    ) WHERE path <> '' GROUP BY ALL ORDER BY changes DESC, path
"""
_FAILED_CALLS = """
    SELECT t.session_id, t.tool_name, t.bash_command, o.excerpt, t.timestamp
    FROM tool_calls t {without_copies}
    JOIN tool_outputs o ON o.session_id = t.session_id AND o.call_idx = t.idx
         AND o.message_idx IS NOT DISTINCT FROM t.message_idx
    WHERE {in_time} AND o.is_error ORDER BY t.timestamp
"""
# A resumed or forked session has copies of earlier turns; the original counts.
_BAD_TURNS = """
    SELECT arg_min(t.session_id, (coalesce(s.ended_at, 'infinity'), s.id)) AS session_id,
           t.outcome, t.error, t.timestamp
    FROM turns t JOIN sessions s ON s.id = t.session_id
    WHERE t.outcome <> 'ok' AND {in_time}
    GROUP BY s.source, t.outcome, t.error, t.timestamp ORDER BY t.timestamp
"""


@dataclass(frozen=True, slots=True)
class DigestRows:
    sessions: list[Row]
    commands: list[Row]
    """Commits and runs of tests, with their output, oldest first."""
    changes: list[Row]
    """How often each session changed each file."""
    failed_calls: list[Row]
    bad_turns: list[Row]
    """Turns that failed or were stopped."""
    tokens: list[Row]
    """For each project, as in `statistics.tokens`."""


def digest_rows(connection: DuckDBPyConnection, scope: Scope) -> DigestRows:
    """The rows within `scope`. Some may belong to sessions outside it."""
    try:
        return _digest_rows(connection, scope)
    except (BinderException, CatalogException) as error:  # a table or a column is missing
        raise IndexUnusable(
            "an earlier version of Navi made this index", hint="recall index  (completes it)"
        ) from error


def _digest_rows(connection: DuckDBPyConnection, scope: Scope) -> DigestRows:
    in_time, moments = _in_time(scope)
    messages, calls = (
        f"ANTI JOIN {find_copies(connection, table, in_time, moments)} k ON k.id = t.id"
        for table in ("messages", "tool_calls")
    )
    in_scope, values = Scope(scope.source, scope.project).where("s.started_at")

    def rows(query: str, without_copies: str = "", *more: Any) -> list[Row]:
        statement = query.replace("{in_time}", in_time).replace("{in_scope}", in_scope)
        statement = statement.replace("{without_copies}", without_copies)
        return as_dicts(connection.execute(statement, [*moments, *more]))

    return DigestRows(
        sessions=rows(_SESSIONS, messages, *values),
        commands=rows(_COMMANDS, calls),
        changes=rows(_CHANGES, calls),
        failed_calls=rows(_FAILED_CALLS, calls),
        bad_turns=rows(_BAD_TURNS),
        tokens=tokens(connection, scope, ["project"]),
    )


def _in_time(scope: Scope) -> tuple[str, list[datetime]]:
    """A condition on the row `t`, and its values. Rows without a time never match."""
    conditions, values = ["t.timestamp IS NOT NULL"], []
    for condition, moment in (("t.timestamp >= ?", scope.since), ("t.timestamp < ?", scope.until)):
        if moment is not None:
            conditions.append(condition)
            values.append(naive(moment))
    return " AND ".join(conditions), values
