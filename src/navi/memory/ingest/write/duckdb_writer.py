"""Writes frames to DuckDB in one transaction, and says what the full-text index has to change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from duckdb import DuckDBPyConnection

from navi.memory import index_schema
from navi.memory.ingest.derived.projects import repository_of
from navi.memory.ingest.derived.titles import best_of, clean, stored_titles
from navi.memory.ingest.file_reader import Frame, Task
from navi.memory.ingest.write import columns
from navi.memory.ingest.write.session_cards import Card, cards
from navi.memory.ingest.write.tantivy_writer import (
    Owner,
    Text,
    texts_of_calls,
    texts_of_messages,
    tools_by_message,
)

UNFINISHED = -1
"""Stored as the size of a file that has not been read to its end, since no file has this size."""


@dataclass(slots=True)
class Change:
    """What the full-text index has to change for one session, once its frames are in DuckDB."""

    owner: Owner
    card: Card
    delete_from: int | None
    """First delete texts from this message on; None if there is nothing to delete."""
    frames: list[Frame]
    """Frames whose texts are added; empty if `texts` has them all."""
    texts: list[Text] | None = None
    """Read again from DuckDB, if stored rows were replaced."""


@dataclass(slots=True)
class IndexedSession:
    """What the index has of a session that is being read again."""

    owner: Owner
    cwd: str | None
    git_repo: str | None
    pending_from: int | None


@dataclass(slots=True)
class Batch:
    tasks: Mapping[int, Task]
    indexed_sessions: dict[str, IndexedSession]
    """By session id; kept up to date by `write`."""
    fields: tuple[str, ...]
    frames: list[Frame] = field(default_factory=list)
    bytes: int = 0

    def can_add(self, frame: Frame) -> bool:
        """False if the frame replaces rows of this batch, which must be written first."""
        if not frame.replaced_messages and not frame.replaced_calls:
            return True
        return all(each.number != frame.number for each in self.frames)

    def add(self, frame: Frame) -> None:
        self.frames.append(frame)
        for _, rows in (frame.messages, frame.tool_calls, frame.usages):
            self.bytes += sum(len(buffer) for column in rows for buffer in column)

    def write(self, connection: DuckDBPyConnection, now: datetime) -> list[Change]:
        """Write the frames in the caller's transaction, and return what else has to change."""
        sessions: dict[str, list[Frame]] = {}
        for frame in self.frames:
            sessions.setdefault(self.tasks[frame.number].session_id, []).append(frame)
        existing_ids = set(self.indexed_sessions)
        self._delete(connection, sessions)
        for table in ("messages", "tool_calls", "usages"):
            pieces = [getattr(frame, table) for frame in self.frames]
            _insert(connection, table, [piece for piece in pieces if piece[0]])
        for session, frames in sessions.items():
            self._update_indexed_session(session, frames)
        self._write_sessions(connection, sessions, now)
        cards_by_id = cards(connection, list(sessions))
        changes = [
            self._change(cards_by_id[session], frames, is_new=session not in existing_ids)
            for session, frames in sessions.items()
        ]
        for change in changes:
            if change.texts is not None:
                assert change.delete_from is not None
                session = change.owner.session_id
                change.texts = texts_in(connection, session, change.delete_from, self.fields)
        return changes

    def _delete(self, connection: DuckDBPyConnection, sessions: dict[str, list[Frame]]) -> None:
        ids = list(sessions)
        connection.execute("DELETE FROM sessions WHERE list_contains(?, id)", [ids])
        rewritten = [
            each for each in ids if sessions[each][0].is_first and each in self.indexed_sessions
        ]
        if rewritten:
            for table in ("tool_calls", "messages", "usages"):
                connection.execute(
                    f"DELETE FROM {table} WHERE session_id IN (SELECT unnest(?))", [rewritten]
                )
        for table, replaced in (
            ("messages", [each for frame in self.frames for each in frame.replaced_messages]),
            ("tool_calls", [each for frame in self.frames for each in frame.replaced_calls]),
        ):
            if replaced:
                connection.execute(
                    f"DELETE FROM {table} WHERE id IN (SELECT unnest(?))", [replaced]
                )

    def _update_indexed_session(self, session: str, frames: list[Frame]) -> None:
        """Record what the index has of the session once these frames are in it."""
        past_session, existing = frames[-1].session, self.indexed_sessions.get(session)
        repository = repository_of(past_session.cwd) if past_session.cwd else None
        if repository is None and existing is not None and existing.cwd == past_session.cwd:
            repository = existing.git_repo  # the folder may be gone by now
        pending = 0
        if not frames[0].is_first:
            pending = min(_first_indexes(frames), default=frames[-1].next_idx)
        if existing is not None and existing.pending_from is not None:
            pending = min(existing.pending_from, pending)
        owner = Owner(session, self.tasks[frames[0].number].source)
        self.indexed_sessions[session] = IndexedSession(
            owner, past_session.cwd, repository, pending
        )

    def _change(self, card: Card, frames: list[Frame], *, is_new: bool) -> Change:
        owner = self.indexed_sessions[card.session_id].owner
        if frames[0].is_first:
            return Change(owner, card, None if is_new else 0, frames)
        if any(frame.replaced_messages or frame.replaced_calls for frame in frames):
            return Change(owner, card, min(_first_indexes(frames), default=0), [], texts=[])
        return Change(owner, card, None, frames)

    def _write_sessions(
        self,
        connection: DuckDBPyConnection,
        sessions: dict[str, list[Frame]],
        now: datetime,
    ) -> None:
        counts = _counts(connection, list(sessions))
        titles = _titles(connection, sessions)
        rows = [
            _session_row(
                self.tasks[frames[-1].number],
                frames[-1],
                self.indexed_sessions[session],
                titles[session],
                counts[session],
                now,
            )
            for session, frames in sessions.items()
        ]
        _insert(connection, "sessions", [(len(rows), _columns_of(rows, index_schema.SESSIONS))])


def _first_indexes(frames: list[Frame]) -> list[int]:
    return [frame.first_idx for frame in frames if frame.first_idx is not None]


def texts_in(
    connection: DuckDBPyConnection, session: str, from_idx: int, fields: tuple[str, ...]
) -> list[Text]:
    """A session's texts in DuckDB: those from a message on, and those outside messages."""
    calls = connection.execute(
        "SELECT message_idx, idx, tool_name, encode(tool_input), encode(bash_command), "
        "epoch_us(timestamp) FROM tool_calls "
        "WHERE session_id = ? AND (message_idx IS NULL OR message_idx >= ?) ORDER BY 1, 2",
        [session, from_idx],
    ).fetchall()
    messages = connection.execute(
        "SELECT idx, role, encode(content), encode(thinking), epoch_us(timestamp) FROM messages "
        "WHERE session_id = ? AND idx >= ? ORDER BY 1",
        [session, from_idx],
    ).fetchall()
    tools = tools_by_message((call[0], call[2]) for call in calls)
    return [*texts_of_messages(messages, tools, fields), *texts_of_calls(calls, fields)]


def texts_of(frame: Frame, fields: tuple[str, ...]) -> list[Text]:
    """The texts of a frame's rows."""
    texts: list[Text] = []
    calls: list[Any] = []
    count, rows = frame.tool_calls
    if count:
        calls = list(
            zip(
                columns.read_integers(rows[3]),
                columns.read_integers(rows[4]),
                columns.read_texts(rows[5]),
                columns.read_bytes(rows[6]),
                columns.read_bytes(rows[7]),
                columns.read_bigints(rows[11]),
                strict=False,
            )
        )
        texts += texts_of_calls(calls, fields)
    count, rows = frame.messages
    if count:
        messages: Iterable[Any] = zip(
            columns.read_integers(rows[2]),
            columns.read_texts(rows[3]),
            columns.read_bytes(rows[4]),
            columns.read_bytes(rows[5]),
            columns.read_bigints(rows[6]),
            strict=False,
        )
        tools = tools_by_message((call[0], call[2]) for call in calls)
        texts += texts_of_messages(messages, tools, fields)
    return texts


def _insert(connection: DuckDBPyConnection, table: str, pieces: list[columns.Piece]) -> None:
    if not pieces:
        return
    connection.register("incoming", columns.table(index_schema.TABLES[table], pieces))
    try:
        connection.execute(f"INSERT INTO {table} SELECT * FROM incoming")
    finally:
        connection.unregister("incoming")


Counts = tuple[int, int, int | None, int | None, int | None, int | None]


def _counts(connection: DuckDBPyConnection, ids: list[str]) -> dict[str, Counts]:
    """Messages, tool calls and tokens of each session."""
    by_session = "WHERE session_id IN (SELECT unnest(?)) GROUP BY session_id"
    messages = dict(
        connection.execute(
            f"SELECT session_id, count(*) FROM messages {by_session}", [ids]
        ).fetchall()
    )
    calls = dict(
        connection.execute(
            f"SELECT session_id, count(*) FROM tool_calls {by_session}", [ids]
        ).fetchall()
    )
    tokens = {
        row[0]: row[1:]
        for row in connection.execute(
            "SELECT session_id, sum(a)::BIGINT, sum(b)::BIGINT, sum(c)::BIGINT, sum(d)::BIGINT "
            "FROM (SELECT session_id, max(input_tokens) AS a, max(output_tokens) AS b, "
            "max(cache_read_tokens) AS c, max(cache_creation_tokens) AS d FROM usages "
            f"{by_session}, key) GROUP BY session_id",
            [ids],
        ).fetchall()
    }
    none = (None, None, None, None)
    return {
        each: (messages.get(each, 0), calls.get(each, 0), *tokens.get(each, none)) for each in ids
    }


def _titles(
    connection: DuckDBPyConnection, sessions: dict[str, list[Frame]]
) -> dict[str, str | None]:
    """The agent's title, else one made from the messages, some of which may only be in DuckDB."""
    titles: dict[str, str | None] = {}
    ids_in_duckdb = []
    for session, frames in sessions.items():
        titles[session] = clean(frames[-1].session.title)
        if titles[session] is None and frames[0].is_first:
            titles[session] = best_of(frame.title_hint for frame in frames)
        elif titles[session] is None:
            ids_in_duckdb.append(session)
    return titles | stored_titles(connection, ids_in_duckdb)


def _session_row(
    task: Task,
    frame: Frame,
    indexed: IndexedSession,
    title: str | None,
    counts: Counts,
    now: datetime,
) -> tuple[Any, ...]:
    session = frame.session
    duration = None
    if session.started_at is not None and session.ended_at is not None:
        duration = max(0, int((session.ended_at - session.started_at).total_seconds()))
    messages, calls, input_tokens, output_tokens, cache_read, cache_creation = counts
    return (
        task.session_id,
        task.source,
        task.path,
        session.source_session_id,
        session.parent_source_session_id,
        session.is_subagent,
        session.is_warmup,
        title,
        session.started_at,
        session.ended_at,
        duration,
        session.model,
        session.cwd,
        indexed.git_repo,
        session.git_branch,
        messages,
        calls,
        input_tokens,
        output_tokens,
        cache_read,
        cache_creation,
        session.bad_lines == 0 and not session.is_cut_off,
        session.bad_lines,
        msgspec.json.encode(session.unknown_kinds).decode(),
        False,
        task.mtime,
        task.size if frame.is_last else UNFINISHED,
        frame.mark.decode(),
        now,
        indexed.pending_from,
    )


_PACKERS: dict[str, Any] = {
    "TEXT": columns.texts,
    "INTEGER": columns.integers,
    "BIGINT": columns.bigints,
    "TIMESTAMP": columns.instants,
    "DOUBLE": columns.doubles,
    "BOOLEAN": columns.booleans,
}


def _columns_of(rows: list[tuple[Any, ...]], table: list[tuple[str, str]]) -> list[columns.Column]:
    return [
        _PACKERS[kind](list(values))
        for (_, kind), values in zip(table, zip(*rows, strict=True), strict=True)
    ]
