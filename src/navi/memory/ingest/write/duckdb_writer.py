"""Frames -> DuckDB in one transaction, and which texts the full-text then has to take."""

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
"""The size of a file that is not yet read to its end: it differs from every real one."""


@dataclass(slots=True)
class Change:
    """What one session's frames do to the full-text, once they are in DuckDB."""

    owner: Owner
    card: Card
    delete_from: int | None
    """Texts from this message on are to be deleted first; None: there is nothing to delete."""
    frames: list[Frame]
    """Whose texts are added as they are, unless `texts` says them all."""
    texts: list[Text] | None = None


@dataclass(slots=True)
class Before:
    """What the index has of a session that is being read."""

    owner: Owner
    cwd: str | None
    git_repo: str | None
    pending_from: int | None


@dataclass(slots=True)
class Batch:
    tasks: Mapping[int, Task]
    before: dict[str, Before]
    """By session id; kept up to date by `write`."""
    fields: tuple[str, ...]
    frames: list[Frame] = field(default_factory=list)
    bytes: int = 0

    def takes(self, frame: Frame) -> bool:
        """False if it replaces rows that are in this very batch: those must be written first."""
        if not frame.replaced_messages and not frame.replaced_calls:
            return True
        return all(each.number != frame.number for each in self.frames)

    def add(self, frame: Frame) -> None:
        self.frames.append(frame)
        for _, rows in (frame.messages, frame.tool_calls, frame.usages):
            self.bytes += sum(len(buffer) for column in rows for buffer in column)

    def write(self, connection: DuckDBPyConnection, now: datetime) -> list[Change]:
        """Inside the caller's transaction."""
        sessions: dict[str, list[Frame]] = {}
        for frame in self.frames:
            sessions.setdefault(self.tasks[frame.number].session_id, []).append(frame)
        known = set(self.before)
        self._delete(connection, sessions)
        for table in ("messages", "tool_calls", "usages"):
            pieces = [getattr(frame, table) for frame in self.frames]
            _insert(connection, table, [piece for piece in pieces if piece[0]])
        for session, frames in sessions.items():
            self._note(session, frames)
        self._write_sessions(connection, sessions, now)
        shown = cards(connection, list(sessions))
        changes = [
            self._change(shown[session], frames, is_new=session not in known)
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
        anew = [each for each in ids if sessions[each][0].is_first and each in self.before]
        if anew:
            for table in ("tool_calls", "messages", "usages"):
                connection.execute(
                    f"DELETE FROM {table} WHERE session_id IN (SELECT unnest(?))", [anew]
                )
        for table, replaced in (
            ("messages", [each for frame in self.frames for each in frame.replaced_messages]),
            ("tool_calls", [each for frame in self.frames for each in frame.replaced_calls]),
        ):
            if replaced:
                connection.execute(
                    f"DELETE FROM {table} WHERE id IN (SELECT unnest(?))", [replaced]
                )

    def _note(self, session: str, frames: list[Frame]) -> None:
        """What the index has of the session once these frames are in it."""
        said, before = frames[-1].session, self.before.get(session)
        repository = repository_of(said.cwd) if said.cwd else None
        if repository is None and before is not None and before.cwd == said.cwd:
            repository = before.git_repo  # the folder is gone, what it was is not
        pending = 0
        if not frames[0].is_first:
            pending = min(_touched(frames), default=frames[-1].next_idx)
        if before is not None and before.pending_from is not None:
            pending = min(before.pending_from, pending)
        owner = Owner(session, self.tasks[frames[0].number].source)
        self.before[session] = Before(owner, said.cwd, repository, pending)

    def _change(self, card: Card, frames: list[Frame], *, is_new: bool) -> Change:
        owner = self.before[card.session_id].owner
        if frames[0].is_first:
            return Change(owner, card, None if is_new else 0, frames)
        if any(frame.replaced_messages or frame.replaced_calls for frame in frames):
            return Change(owner, card, min(_touched(frames), default=0), [], texts=[])
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
                self.tasks[change_frames[-1].number],
                change_frames[-1],
                self.before[session],
                titles[session],
                counts[session],
                now,
            )
            for session, change_frames in sessions.items()
        ]
        _insert(connection, "sessions", [(len(rows), _columns_of(rows, index_schema.SESSIONS))])


def _touched(frames: list[Frame]) -> list[int]:
    return [frame.first_idx for frame in frames if frame.first_idx is not None]


def texts_in(
    connection: DuckDBPyConnection, session: str, from_idx: int, fields: tuple[str, ...]
) -> list[Text]:
    """A session's texts from a message on, and those outside messages, as DuckDB has them."""
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
    """The same of a frame's own rows."""
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
    mine = "WHERE session_id IN (SELECT unnest(?)) GROUP BY session_id"
    messages = dict(
        connection.execute(f"SELECT session_id, count(*) FROM messages {mine}", [ids]).fetchall()
    )
    calls = dict(
        connection.execute(f"SELECT session_id, count(*) FROM tool_calls {mine}", [ids]).fetchall()
    )
    tokens = {
        row[0]: row[1:]
        for row in connection.execute(
            "SELECT session_id, sum(a)::BIGINT, sum(b)::BIGINT, sum(c)::BIGINT, sum(d)::BIGINT "
            "FROM (SELECT session_id, max(input_tokens) AS a, max(output_tokens) AS b, "
            "max(cache_read_tokens) AS c, max(cache_creation_tokens) AS d FROM usages "
            f"{mine}, key) GROUP BY session_id",
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
    """The agents' own; else what the messages give, of which some may be in DuckDB only."""
    titles: dict[str, str | None] = {}
    begun_before = []
    for session, frames in sessions.items():
        titles[session] = clean(frames[-1].session.title)
        if titles[session] is None and frames[0].is_first:
            titles[session] = best_of(frame.title_hint for frame in frames)
        elif titles[session] is None:
            begun_before.append(session)
    return titles | stored_titles(connection, begun_before)


def _session_row(
    task: Task,
    frame: Frame,
    state: Before,
    title: str | None,
    counts: Counts,
    now: datetime,
) -> tuple[Any, ...]:
    said = frame.session
    duration = None
    if said.started_at is not None and said.ended_at is not None:
        duration = max(0, int((said.ended_at - said.started_at).total_seconds()))
    messages, calls, given, answered, cache_read, cache_made = counts
    return (
        task.session_id,
        task.source,
        task.path,
        said.source_session_id,
        said.parent_source_session_id,
        said.is_subagent,
        said.is_warmup,
        title,
        said.started_at,
        said.ended_at,
        duration,
        said.model,
        said.cwd,
        state.git_repo,
        said.git_branch,
        messages,
        calls,
        given,
        answered,
        cache_read,
        cache_made,
        said.bad_lines == 0 and not said.is_cut_off,
        said.bad_lines,
        msgspec.json.encode(said.unknown_kinds).decode(),
        False,
        task.mtime,
        task.size if frame.is_last else UNFINISHED,
        frame.mark.decode(),
        now,
        state.pending_from,
    )


_MAKERS: dict[str, Any] = {
    "TEXT": columns.texts,
    "INTEGER": columns.integers,
    "BIGINT": columns.bigints,
    "TIMESTAMP": columns.instants,
    "DOUBLE": columns.doubles,
    "BOOLEAN": columns.booleans,
}


def _columns_of(rows: list[tuple[Any, ...]], table: list[tuple[str, str]]) -> list[columns.Column]:
    return [
        _MAKERS[kind](list(values))
        for (_, kind), values in zip(table, zip(*rows, strict=True), strict=True)
    ]
