"""Finds a session by our id or the agent's, or by the start of one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from duckdb import DuckDBPyConnection

from navi.base.errors import InvalidInput
from navi.live.model.session_reference import SHORTEST_PREFIX
from navi.memory.index_errors import AmbiguousSession, PastSessionNotFound
from navi.memory.index_schema import has_hosts

MOST_CANDIDATES = 10

COLUMNS = """
    id, source, source_path, source_session_id,
    parent_source_session_id, is_subagent, title,
    started_at, ended_at, duration_seconds,
    model, cwd, git_repo, git_branch, coalesce(git_repo, cwd) AS project,
    message_count, tool_count,
    input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens,
    is_complete, bad_lines, is_archived, file_mtime, file_size, indexed_at
"""
LATEST = "coalesce(ended_at, started_at, make_timestamp((file_mtime * 1000000)::BIGINT))"

Session = dict[str, Any]
"""A row of `sessions`: values by column name, with aware times."""


def resolve(connection: DuckDBPyConnection, reference: str) -> str:
    """The session's full id, from our id or the agent's, or from the unique start of one."""
    reference = reference.strip()
    for condition, value in (
        ("id = ?", reference.lower()),
        ("source_session_id = ? AND NOT is_subagent", reference),
        ("source_session_id = ?", reference),
    ):
        if rows := _candidates(connection, condition, value):
            return _only_id(reference, rows)
    if len(reference) < SHORTEST_PREFIX:
        raise InvalidInput(
            f"{reference!r} is too short for an id",
            hint=f"give at least {SHORTEST_PREFIX} characters",
        )
    rows = _candidates(connection, "starts_with(id, ?)", reference.lower())
    rows = rows or _candidates(connection, "starts_with(source_session_id, ?)", reference)
    if not rows:
        raise PastSessionNotFound(reference)
    return _only_id(reference, rows)


def session(connection: DuckDBPyConnection, id: str) -> Session:
    rows = as_dicts(
        connection.execute(
            f"SELECT {COLUMNS}, {'host' if has_hosts(connection) else 'NULL AS host'}, "
            "(SELECT list(tag ORDER BY tag) FROM tags WHERE session_id = s.id) AS tags "
            "FROM sessions s WHERE id = ?",
            [id],
        )
    )
    if not rows:
        raise PastSessionNotFound(id)
    return rows[0]


def as_dicts(rows: DuckDBPyConnection) -> list[dict[str, Any]]:
    assert rows.description is not None
    names = [column[0] for column in rows.description]
    return [
        {name: _aware(value) for name, value in zip(names, row, strict=True)}
        for row in rows.fetchall()
    ]


def _aware(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def _candidates(
    connection: DuckDBPyConnection, condition: str, value: str
) -> list[tuple[Any, ...]]:
    return connection.execute(
        f"SELECT id, source, {LATEST}, coalesce(git_repo, cwd, '') FROM sessions "
        f"WHERE {condition} ORDER BY {LATEST} DESC LIMIT {MOST_CANDIDATES}",
        [value],
    ).fetchall()


def _only_id(reference: str, rows: list[tuple[Any, ...]]) -> str:
    if len(rows) > 1:
        raise AmbiguousSession(
            reference,
            [
                f"{id}  {source.replace('_', '-')}  {_local(at)}  {project}"
                for id, source, at, project in rows
            ],
        )
    id: str = rows[0][0]
    return id


def _local(moment: datetime | None) -> str:
    return "?" if moment is None else f"{_aware(moment).astimezone():%Y-%m-%d %H:%M %Z}"
