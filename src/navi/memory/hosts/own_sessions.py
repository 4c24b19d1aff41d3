"""Revisions and bundles of this machine's sessions, from the index.

A session gets a new revision when its content has changed. `own.json` has a fingerprint of each
session's content; without it, every session counts as new and is sent again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec
from duckdb import DuckDBPyConnection

from navi.base.timestamps import microseconds
from navi.base.whole_file import replace_file
from navi.memory import database
from navi.memory.hosts.bundle import Call, Head, Message, Output, Row, Turn, Usage
from navi.memory.hosts.this_machine import Host
from navi.memory.index_paths import IndexPaths
from navi.memory.index_schema import IS_SESSION, has_hosts
from navi.memory.ingest.write.duckdb_writer import UNFINISHED
from navi.memory.read.session_lookup import LATEST

ROWS_PER_BATCH = 20_000
"""Limits memory, and how long other processes wait for the index."""

_CONTENT = {
    "messages": "idx, role, content, thinking, timestamp",
    "tool_calls": "message_idx, idx, tool_name, tool_input, bash_command, timestamp",
    "tool_outputs": "message_idx, call_idx, tool_name, excerpt, timestamp, is_error",
    "turns": "key, origin, outcome, error, timestamp",
    "usages": "key, model, timestamp, input_tokens, output_tokens, cache_read_tokens, "
    "cache_creation_tokens",
}
"""The columns of each table that are sent; the receiver derives the others."""
_HEAD_COLUMNS = {
    "source": "source",
    "source_session_id": "source_session_id",
    "parent_source_session_id": "parent_source_session_id",
    "is_subagent": "is_subagent",
    "title": "title",
    "started_at": "epoch_us(started_at)",
    "ended_at": "epoch_us(ended_at)",
    "model": "model",
    "cwd": "cwd",
    "git_repo": "git_repo",
    "git_branch": "git_branch",
    "bad_lines": "bad_lines",
}
"""The columns of `sessions` that are sent, by field of `Head`."""
_HEAD = ", ".join(_HEAD_COLUMNS.values())
_ROW_TYPES: dict[str, Any] = {
    "messages": Message,
    "tool_calls": Call,
    "tool_outputs": Output,
    "turns": Turn,
    "usages": Usage,
}


class State(msgspec.Struct, frozen=True):
    """Values that change with a session's rows, so that unchanged rows need not be read."""

    file_size: int
    at: int
    rows: int
    indexed_at: int


class OwnSession(msgspec.Struct, frozen=True):
    revision: int
    fingerprint: str
    state: State

    @property
    def at(self) -> int:
        """When something last happened in the session."""
        return self.state.at


def revisions(paths: IndexPaths, now: datetime) -> tuple[dict[str, OwnSession], set[str]]:
    """This machine's listed sessions, by id, and the ids of all sessions from its own files, listed
    or not. Records new revisions."""
    path = paths.hosts / "own.json"
    before = _load(path)
    current: dict[str, OwnSession] = {}
    changed: dict[str, State] = {}
    with database.reading(paths) as connection:
        ids = {row[0] for row in connection.execute(_own("SELECT id", connection)).fetchall()}
        rows = connection.execute(
            f"{_own('SELECT id, ' + _STATE, connection)} AND {IS_SESSION}"
        ).fetchall()
        for id, *values in rows:
            existing, state = before.get(id), State(*values)
            # While a file is being read again, the index may hold only its first part.
            if existing and (existing.state == state or state.file_size == UNFINISHED):
                current[id] = existing
            else:
                changed[id] = state
        fingerprints = _fingerprints(connection, list(changed))
    for id, state in changed.items():
        revision = _revision(before.get(id), fingerprints[id], microseconds(now))
        current[id] = OwnSession(revision, fingerprints[id], state)
    if current != before:
        replace_file(path, msgspec.json.encode(current))
    return current, ids


def bundles(
    paths: IndexPaths, host: Host, sessions: dict[str, OwnSession]
) -> Iterator[tuple[Head, list[Row]]]:
    """The chosen sessions with all their rows; a few in memory at a time."""
    batch: list[str] = []
    count = 0
    for id, session in sessions.items():
        batch.append(id)
        count += session.state.rows
        if count >= ROWS_PER_BATCH:
            yield from _batch(paths, host, sessions, batch)
            batch, count = [], 0
    yield from _batch(paths, host, sessions, batch)


_STATE = f"file_size, epoch_us({LATEST}), message_count + tool_count, epoch_us(indexed_at)"


def _revision(before: OwnSession | None, fingerprint: str, now: int) -> int:
    if before is None:
        return now
    return before.revision if before.fingerprint == fingerprint else max(now, before.revision + 1)


def _own(select: str, connection: DuckDBPyConnection) -> str:
    """A query for this machine's own sessions."""
    condition = "host IS NULL" if has_hosts(connection) else "true"
    return f"{select} FROM sessions WHERE {condition}"


def _load(path: Any) -> dict[str, OwnSession]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, OwnSession])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}


def _fingerprints(connection: DuckDBPyConnection, ids: list[str]) -> dict[str, str]:
    """Each session's fingerprint: sums of its rows' hashes, computed by DuckDB."""
    fingerprints = dict(
        connection.execute(
            f"SELECT id, hash({_HEAD})::VARCHAR FROM sessions WHERE id IN (SELECT unnest(?))", [ids]
        ).fetchall()
    )
    for table, columns in _CONTENT.items():
        for id, count, total in connection.execute(
            f"SELECT session_id, count(*), sum(hash({columns})::HUGEINT)::VARCHAR FROM {table} "
            "WHERE session_id IN (SELECT unnest(?)) GROUP BY session_id",
            [ids],
        ).fetchall():
            fingerprints[id] += f" {table[0:6]} {count} {total}"
    return fingerprints


def _batch(
    paths: IndexPaths, host: Host, sessions: dict[str, OwnSession], ids: Sequence[str]
) -> Iterator[tuple[Head, list[Row]]]:
    if not ids:
        return
    with database.reading(paths) as connection:
        heads = connection.execute(
            f"SELECT id, {_HEAD} FROM sessions WHERE id IN (SELECT unnest(?))", [ids]
        ).fetchall()
        rows = _rows(connection, ids)
    for id, *values in heads:
        session = sessions[id]
        fields = dict(zip(_HEAD_COLUMNS, values, strict=True))
        head = Head(host, id, session.revision, session.at, **fields)
        yield head, rows.pop(id, [])


def _rows(connection: DuckDBPyConnection, ids: Sequence[str]) -> dict[str, list[Row]]:
    """The sessions' rows: messages in their order, then calls, outputs and tokens."""
    rows: dict[str, list[Row]] = {}
    for table, columns in _CONTENT.items():
        values = columns.replace("timestamp", "epoch_us(timestamp)")
        row_type = _ROW_TYPES[table]
        for id, *row in connection.execute(
            f"SELECT session_id, {values} FROM {table} WHERE session_id IN (SELECT unnest(?)) "
            "ORDER BY ALL",
            [ids],
        ).fetchall():
            rows.setdefault(id, []).append(row_type(*row))
    return rows
