"""Sessions as rows: the newest, and the one that a person means by an id."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from duckdb import DuckDBPyConnection

from navi.domain.errors import InvalidInput
from navi.index.errors import AmbiguousSession, PastSessionNotFound

SHORTEST_PREFIX = 4
MOST_CANDIDATES = 10

_COLUMNS = """
    id, source, source_path, source_session_id,
    parent_source_session_id, is_subagent, title,
    started_at, ended_at, duration_seconds,
    model, cwd, git_repo, git_branch, coalesce(git_repo, cwd) AS project,
    message_count, tool_count,
    input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens,
    is_complete, bad_lines, is_archived, file_mtime, file_size, indexed_at,
    (SELECT list(tag ORDER BY tag) FROM tags WHERE session_id = s.id) AS tags
"""
_LATEST = "coalesce(ended_at, started_at, make_timestamp((file_mtime * 1000000)::BIGINT))"
_HAS_CONTENT = "NOT is_warmup AND (message_count > 0 OR tool_count > 0 OR NOT is_complete)"

Session = dict[str, Any]
"""A row with the column's names; instants are aware."""


@dataclass(frozen=True, slots=True)
class Wanted:
    source: str | None = None
    since: datetime | None = None
    project: str | None = None
    tag: str | None = None
    parent: str | None = None
    """A source's own id of the session whose sub-agents are wanted."""


def sessions(connection: DuckDBPyConnection, wanted: Wanted, limit: int | None) -> list[Session]:
    """Latest activity first."""
    conditions, values = [_HAS_CONTENT], list[Any]()
    for condition, value in (
        ("source = ?", wanted.source),
        (f"{_LATEST} >= ?", naive(wanted.since)),
        ("contains(coalesce(git_repo, cwd), ?)", _part(wanted.project)),
        ("id IN (SELECT session_id FROM tags WHERE tag = ?)", wanted.tag),
        ("parent_source_session_id = ?", wanted.parent),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM sessions s WHERE {' AND '.join(conditions)} "
        f"ORDER BY {_LATEST} DESC, id LIMIT {'ALL' if limit is None else int(limit)}",
        values,
    )
    return as_dicts(rows)


def resolve(connection: DuckDBPyConnection, wanted: str) -> str:
    """The id of the session called so: by id, the unique beginning of one, or its agent's id."""
    wanted = wanted.strip()
    for condition, value in (
        ("id = ?", wanted.lower()),
        ("source_session_id = ? AND NOT is_subagent", wanted),
        ("source_session_id = ?", wanted),
    ):
        if found := _called(connection, condition, value):
            return _only(wanted, found)
    if len(wanted) < SHORTEST_PREFIX:
        raise InvalidInput(
            f"{wanted!r} is too short for the beginning of an id",
            hint=f"give at least {SHORTEST_PREFIX} characters of it",
        )
    found = _called(connection, "starts_with(id, ?)", wanted.lower())
    found = found or _called(connection, "starts_with(source_session_id, ?)", wanted)
    if not found:
        raise PastSessionNotFound(wanted)
    return _only(wanted, found)


def session(connection: DuckDBPyConnection, id: str) -> Session:
    found = as_dicts(connection.execute(f"SELECT {_COLUMNS} FROM sessions s WHERE id = ?", [id]))
    if not found:
        raise PastSessionNotFound(id)
    return found[0]


def as_dicts(rows: DuckDBPyConnection) -> list[dict[str, Any]]:
    assert rows.description is not None
    names = [column[0] for column in rows.description]
    return [
        {name: _aware(value) for name, value in zip(names, row, strict=True)}
        for row in rows.fetchall()
    ]


def naive(moment: datetime | None) -> datetime | None:
    """As the tables hold it: UTC without saying so."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def _aware(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def _part(project: str | None) -> str | None:
    """A path's end does not matter: `repo/` is `repo`."""
    return None if project is None else project.rstrip("/") or "/"


def _called(connection: DuckDBPyConnection, condition: str, value: str) -> list[tuple[Any, ...]]:
    return connection.execute(
        f"SELECT id, source, {_LATEST}, coalesce(git_repo, cwd, '') FROM sessions "
        f"WHERE {condition} ORDER BY {_LATEST} DESC LIMIT {MOST_CANDIDATES}",
        [value],
    ).fetchall()


def _only(wanted: str, found: list[tuple[Any, ...]]) -> str:
    if len(found) > 1:
        raise AmbiguousSession(
            wanted,
            [
                f"{id}  {source}  {at:%Y-%m-%d %H:%M}  {project}"
                for id, source, at, project in found
            ],
        )
    id: str = found[0][0]
    return id
