"""Counts sessions, messages, tools, commands and tokens.

`index_schema.IS_SESSION` defines what counts as a session. A message, a tool call and an answer's
tokens count once, however many files have a copy of them (`copies.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from duckdb import DuckDBPyConnection

from navi.base.secrets.masking import masked
from navi.memory.index_schema import IS_SESSION, naive
from navi.memory.prices import cost_of
from navi.memory.read.copies import find_copies
from navi.memory.read.session_lookup import as_dicts
from navi.permissions.suggestions import CountedCommand

PERIODS = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m"}
TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")

# An answer belongs to the session that ended first: resumed and forked sessions only copied it.
_ANSWERS = f"""
    answers AS (
        SELECT
            arg_min(u.session_id, (coalesce(s.ended_at, 'infinity'), s.id)) AS session_id,
            max(u.model) AS model,
            min(u.timestamp) AS timestamp,
            {", ".join(f"max(u.{name}) AS {name}" for name in TOKENS)}
        FROM usages u JOIN sessions s ON s.id = u.session_id
        WHERE {{in_time}} GROUP BY u.key
    )
"""
LONGEST_ANSWER = timedelta(days=1)
"""The lines of one answer are never further apart than this."""
_LATEST = "coalesce(ended_at, started_at)"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which sessions and which time to count."""

    source: str | None = None
    project: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    """Exclusive."""
    host: str | None = None
    """The name of a machine; `this_machine.HERE` is this one."""

    def where(self, timestamp: str) -> tuple[str, list[Any]]:
        """SQL conditions on the session `s` and on the column `timestamp`, and their values."""
        conditions, values = [IS_SESSION], list[Any]()
        for condition, value in (
            ("s.source = ?", self.source),
            # The same as `session_list.in_project`.
            ("contains(coalesce(s.git_repo, s.cwd) || '/', ?)", self.project),
            (f"coalesce({timestamp}, s.started_at) >= ?", self.since and naive(self.since)),
            (f"coalesce({timestamp}, s.started_at) < ?", self.until and naive(self.until)),
        ):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        if self.host is not None:
            from navi.memory.hosts.this_machine import HERE

            if self.host == HERE:
                conditions.append("s.host IS NULL")
            else:
                conditions.append("lower(s.host) = lower(?)")
                values.append(self.host)
        return " AND ".join(conditions), values


def overview(connection: DuckDBPyConnection, scope: Scope) -> dict[str, Any]:
    where, values = scope.where("s.ended_at")
    rows = connection.execute(
        f"SELECT source, count(*), {_own_counts(connection)}, "
        f"min(started_at), max({_LATEST}) FROM sessions s WHERE {where} "
        "GROUP BY source ORDER BY source",
        values,
    ).fetchall()
    tokens = {row["source"]: row for row in _token_sums(connection, scope, "s.source AS source")}
    count_names = ("sessions", "messages", "tool_calls", "copied_messages", "copied_tool_calls")
    by_source = {}
    for source, *counts, _, _ in rows:
        token_sums = tokens.get(source, {})
        by_source[source] = {
            **dict(zip(count_names, counts, strict=True)),
            **{name: token_sums.get(name, 0) for name in TOKENS},
        }
    firsts = [row[-2].replace(tzinfo=UTC) for row in rows if row[-2] is not None]
    lasts = [row[-1].replace(tzinfo=UTC) for row in rows if row[-1] is not None]
    return {
        **{
            name: sum(each[name] for each in by_source.values()) for name in (*count_names, *TOKENS)
        },
        "by_source": by_source,
        "first": min(firsts, default=None),
        "last": max(lasts, default=None),
    }


def _own_counts(connection: DuckDBPyConnection) -> str:
    """SQL sums over sessions `s`: their own messages and tool calls, and the copies."""
    copy_counts = {
        column: f"coalesce((SELECT count(*) FROM {find_copies(connection, table)} k "
        "WHERE k.session_id = s.id), 0)"
        for column, table in (("message_count", "messages"), ("tool_count", "tool_calls"))
    }
    own = [
        f"sum({column} - {copies})::BIGINT AS {name}"
        for (column, copies), name in zip(
            copy_counts.items(), ("messages", "tool_calls"), strict=True
        )
    ]
    copied = [f"sum({copies})::BIGINT AS copied_{column}" for column, copies in copy_counts.items()]
    return ", ".join([*own, *copied])


def tools(connection: DuckDBPyConnection, scope: Scope) -> list[dict[str, Any]]:
    where, values = scope.where("c.timestamp")
    return as_dicts(
        connection.execute(
            "SELECT tool_name, count(*) AS count, count(DISTINCT c.session_id) AS sessions "
            f"FROM {_own_calls(connection)} WHERE {where} "
            "GROUP BY tool_name ORDER BY count DESC, tool_name",
            values,
        )
    )


def bash_commands(connection: DuckDBPyConnection, scope: Scope) -> list[dict[str, Any]]:
    """How often each program and subcommand was run."""
    where, values = scope.where("c.timestamp")
    rows = as_dicts(
        connection.execute(
            "SELECT bash_base, bash_sub, count(*) AS count, "
            "count(*) FILTER (is_compound) AS compound "
            f"FROM {_own_calls(connection)} WHERE {where} AND bash_command IS NOT NULL "
            "GROUP BY bash_base, bash_sub ORDER BY count DESC, bash_base, bash_sub",
            values,
        )
    )
    return [
        {**row, "bash_base": masked(row["bash_base"]), "bash_sub": masked(row["bash_sub"])}
        for row in rows
    ]


def commands(connection: DuckDBPyConnection, scope: Scope) -> list[CountedCommand]:
    """Every command line, with how often it ran."""
    where, values = scope.where("c.timestamp")
    rows = connection.execute(
        "SELECT bash_command, sum(n)::BIGINT, list(project ORDER BY n DESC) FROM ("
        "  SELECT bash_command, coalesce(s.git_repo, s.cwd, '') AS project, count(*) AS n "
        f"  FROM {_own_calls(connection)} WHERE {where} "
        "  AND bash_command IS NOT NULL GROUP BY 1, 2"
        ") GROUP BY 1 ORDER BY 2 DESC, 1",
        values,
    ).fetchall()
    return [
        CountedCommand(command, count, [project for project in projects if project])
        for command, count, projects in rows
    ]


def _own_calls(connection: DuckDBPyConnection) -> str:
    """SQL for tool calls `c` with their sessions `s`, without copies."""
    copies = find_copies(connection, "tool_calls")
    return (
        f"tool_calls c JOIN sessions s ON s.id = c.session_id ANTI JOIN {copies} k ON k.id = c.id"
    )


def projects(connection: DuckDBPyConnection, scope: Scope) -> list[dict[str, Any]]:
    where, values = scope.where("s.ended_at")
    return as_dicts(
        connection.execute(
            "SELECT project, sessions, messages, tool_calls FROM ("
            "  SELECT coalesce(git_repo, cwd) AS project, count(*) AS sessions, "
            f"  {_own_counts(connection)} FROM sessions s WHERE {where} GROUP BY project"
            ") ORDER BY sessions DESC, project",
            values,
        )
    )


def activity(connection: DuckDBPyConnection, scope: Scope) -> list[dict[str, Any]]:
    """Messages and new sessions per hour and source, oldest first, without empty hours."""
    copies = find_copies(connection, "messages")
    message_filter, values = scope.where("m.timestamp")
    session_filter, more_values = scope.where("s.started_at")
    return as_dicts(
        connection.execute(
            "SELECT date_trunc('hour', moment) AS hour, source, "
            "sum(messages)::BIGINT AS messages, sum(sessions)::BIGINT AS sessions FROM ("
            "  SELECT m.timestamp AS moment, s.source AS source, 1 AS messages, 0 AS sessions "
            "  FROM messages m JOIN sessions s ON s.id = m.session_id "
            f"  ANTI JOIN {copies} k ON k.id = m.id WHERE {message_filter} "
            "  UNION ALL SELECT s.started_at, s.source, 0, 1 FROM sessions s "
            f"  WHERE {session_filter}"
            ") WHERE moment IS NOT NULL GROUP BY hour, source ORDER BY hour, source",
            [*values, *more_values],
        )
    )


def tokens(connection: DuckDBPyConnection, scope: Scope, by: Sequence[str]) -> list[dict[str, Any]]:
    """Tokens and their cost, grouped as `by` says: `project`, `model`, a period. Newest first."""
    period = next((PERIODS[each] for each in by if each in PERIODS), None)
    rows = _token_sums(
        connection,
        scope,
        "coalesce(s.git_repo, s.cwd) AS project" if "project" in by else "NULL::TEXT AS project",
        f"strftime(a.timestamp, '{period}') AS period" if period else "NULL::TEXT AS period",
        "a.model AS model",
    )
    return _with_costs(rows, by_model="model" in by)


def _token_sums(connection: DuckDBPyConnection, scope: Scope, *by: str) -> list[dict[str, Any]]:
    where, values = scope.where("a.timestamp")
    sums = ", ".join(f"sum(a.{name})::BIGINT AS {name}" for name in TOKENS)
    # Warm-ups are not sessions, but their tokens were paid for.
    where = where.replace(IS_SESSION, "true")
    # Skips most answers outside the time before the expensive grouping; `where` is exact.
    in_time, moments = "true", []
    if scope.since is not None:
        in_time = "coalesce(u.timestamp >= ?, true)"
        moments = [naive(scope.since - LONGEST_ANSWER)]
    return as_dicts(
        connection.execute(
            f"WITH {_ANSWERS.format(in_time=in_time)} SELECT {', '.join(by)}, {sums} "
            f"FROM answers a JOIN sessions s ON s.id = a.session_id WHERE {where} GROUP BY ALL",
            [*moments, *values],
        )
    )


def _with_costs(rows: Iterable[dict[str, Any]], *, by_model: bool) -> list[dict[str, Any]]:
    """Add up each group's rows, and their cost at the prices of their models."""
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        model = row["model"]
        key = (row["project"], row["period"], model if by_model else None)
        group = groups.setdefault(
            key,
            {
                "project": key[0],
                "period": key[1],
                "model": key[2],
                **dict.fromkeys(TOKENS, 0),
                "cost_usd": 0.0,
                "unpriced_models": [],
            },
        )
        for name in TOKENS:
            group[name] += row[name]
        cost = cost_of(model, *(row[name] for name in TOKENS))
        if cost is not None:
            group["cost_usd"] += cost
        elif any(row[name] for name in TOKENS):
            group["unpriced_models"].append(model or "unknown")
    for group in groups.values():
        group["cost_usd"] = round(group["cost_usd"], 6)
        group["unpriced_models"].sort()
        if group["unpriced_models"] and group["cost_usd"] == 0:
            group["cost_usd"] = None
    ordered = sorted(groups.values(), key=lambda row: (row["project"] or "", row["model"] or ""))
    return sorted(ordered, key=lambda row: row["period"] or "", reverse=True)
