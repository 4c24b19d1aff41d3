"""Writes parts of files to DuckDB, and returns the changes for the full-text index."""

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
from navi.memory.ingest.file_reader import FilePart, Task
from navi.memory.ingest.write import columns
from navi.memory.ingest.write.session_cards import Card, cards
from navi.memory.ingest.write.tantivy_writer import (
    Text,
    TextOwner,
    texts_of_calls,
    texts_of_messages,
    texts_of_outputs,
    tools_by_message,
)

UNFINISHED = -1
"""Stored as the size of a file that has not been read to its end, since no file has this size."""


@dataclass(slots=True)
class Change:
    """What has to change in the full-text index for a session whose parts are now in DuckDB."""

    owner: TextOwner
    card: Card
    delete_from: int | None
    """Texts from this message on are deleted first; None if there is nothing to delete."""
    parts: list[FilePart]
    """Parts of the session's file whose texts are added; empty if `texts` is set."""
    texts: list[Text] | None = None
    """Set only if stored rows were replaced: all texts from `delete_from` on, read back from
    DuckDB."""


@dataclass(slots=True)
class IndexedSession:
    """What the index has of a session that is being read again."""

    owner: TextOwner
    cwd: str | None
    git_repo: str | None
    texts_pending_from: int | None
    """The first message whose text is not yet in the full-text index; None if all of them are."""


@dataclass(slots=True)
class Batch:
    """Parts of files to write in one transaction."""

    tasks: Mapping[int, Task]
    """By number."""
    indexed_sessions: dict[str, IndexedSession]
    """By session id; kept up to date by `write`."""
    fields: tuple[str, ...]
    parts: list[FilePart] = field(default_factory=list)
    bytes: int = 0

    def can_add(self, part: FilePart) -> bool:
        """False if the part may replace rows still in this batch: write the batch first."""
        if not part.replaced_message_ids and not part.replaced_call_ids:
            return True
        return all(each.task_number != part.task_number for each in self.parts)

    def add(self, part: FilePart) -> None:
        self.parts.append(part)
        pieces = (part.messages, part.tool_calls, part.outputs, part.usages, part.turns)
        for _, part_columns in pieces:
            self.bytes += sum(len(buffer) for column in part_columns for buffer in column)

    def write(self, connection: DuckDBPyConnection, now: datetime) -> list[Change]:
        """Write in the caller's transaction, and return the changes for the full-text index."""
        parts_by_session: dict[str, list[FilePart]] = {}
        for part in self.parts:
            session_id = self.tasks[part.task_number].session_id
            parts_by_session.setdefault(session_id, []).append(part)
        existing_ids = set(self.indexed_sessions)
        self._delete_old_rows(connection, parts_by_session)
        for table, pieces in (
            ("messages", [part.messages for part in self.parts]),
            ("tool_calls", [part.tool_calls for part in self.parts]),
            ("tool_outputs", [part.outputs for part in self.parts]),
            ("usages", [part.usages for part in self.parts]),
            ("turns", [part.turns for part in self.parts]),
        ):
            _insert(connection, table, [piece for piece in pieces if piece[0]])
        for session_id, parts in parts_by_session.items():
            self._update_indexed_session(session_id, parts)
        self._write_sessions(connection, parts_by_session, now)
        cards_by_id = cards(connection, list(parts_by_session))
        return [
            self._change(
                connection, cards_by_id[session_id], parts, is_new=session_id not in existing_ids
            )
            for session_id, parts in parts_by_session.items()
        ]

    def _delete_old_rows(
        self, connection: DuckDBPyConnection, parts_by_session: dict[str, list[FilePart]]
    ) -> None:
        ids = list(parts_by_session)
        connection.execute("DELETE FROM sessions WHERE list_contains(?, id)", [ids])
        rewritten_ids = [
            id for id in ids if parts_by_session[id][0].is_first and id in self.indexed_sessions
        ]
        if rewritten_ids:
            _delete_contents(connection, rewritten_ids)
        for table, replaced_ids in (
            ("messages", [id for part in self.parts for id in part.replaced_message_ids]),
            ("tool_calls", [id for part in self.parts for id in part.replaced_call_ids]),
        ):
            if replaced_ids:
                connection.execute(
                    f"DELETE FROM {table} WHERE id IN (SELECT unnest(?))", [replaced_ids]
                )

    def _update_indexed_session(self, session_id: str, parts: list[FilePart]) -> None:
        """Record what the index has of the session once these parts are in it."""
        past_session, existing = parts[-1].session, self.indexed_sessions.get(session_id)
        origin = past_session.origin
        source = self.tasks[parts[0].task_number].source if origin is None else origin.source
        if origin is not None:
            repository = origin.git_repo  # the folder is on another machine
        else:
            repository = repository_of(past_session.cwd) if past_session.cwd else None
        if repository is None and existing is not None and existing.cwd == past_session.cwd:
            repository = existing.git_repo  # the folder may be gone by now
        pending_from = 0
        if not parts[0].is_first:
            pending_from = min(_first_indexes(parts), default=parts[-1].next_idx)
        if existing is not None and existing.texts_pending_from is not None:
            pending_from = min(existing.texts_pending_from, pending_from)
        owner = TextOwner(session_id, source)
        self.indexed_sessions[session_id] = IndexedSession(
            owner, past_session.cwd, repository, pending_from
        )

    def _change(
        self, connection: DuckDBPyConnection, card: Card, parts: list[FilePart], *, is_new: bool
    ) -> Change:
        owner = self.indexed_sessions[card.session_id].owner
        if parts[0].is_first:
            return Change(owner, card, None if is_new else 0, parts)
        if any(part.replaced_message_ids or part.replaced_call_ids for part in parts):
            delete_from = min(_first_indexes(parts), default=0)
            texts = texts_in(connection, card.session_id, delete_from, self.fields)
            return Change(owner, card, delete_from, [], texts)
        return Change(owner, card, None, parts)

    def _write_sessions(
        self,
        connection: DuckDBPyConnection,
        parts_by_session: dict[str, list[FilePart]],
        now: datetime,
    ) -> None:
        counts = _counts(connection, list(parts_by_session))
        titles = _titles(connection, parts_by_session)
        rows = [
            _session_row(
                self.tasks[parts[-1].task_number],
                parts[-1],
                self.indexed_sessions[session_id],
                titles[session_id],
                counts[session_id],
                now,
            )
            for session_id, parts in parts_by_session.items()
        ]
        _insert(connection, "sessions", [(len(rows), _columns_of(rows, index_schema.SESSIONS))])


def delete_sessions(connection: DuckDBPyConnection, ids: list[str]) -> None:
    """Delete all rows of these sessions."""
    _delete_contents(connection, ids)
    connection.execute("DELETE FROM sessions WHERE id IN (SELECT unnest(?))", [ids])


def _delete_contents(connection: DuckDBPyConnection, ids: list[str]) -> None:
    for table in index_schema.TABLES.keys() - {"sessions"}:
        connection.execute(f"DELETE FROM {table} WHERE session_id IN (SELECT unnest(?))", [ids])


def _first_indexes(parts: list[FilePart]) -> list[int]:
    return [part.first_idx for part in parts if part.first_idx is not None]


def texts_in(
    connection: DuckDBPyConnection, session_id: str, from_idx: int, fields: tuple[str, ...]
) -> list[Text]:
    """A session's texts in DuckDB from message `from_idx` on, and those of tool calls that belong
    to no message."""
    calls = connection.execute(
        "SELECT message_idx, idx, tool_name, encode(tool_input), encode(bash_command), "
        "epoch_us(timestamp) FROM tool_calls "
        "WHERE session_id = ? AND (message_idx IS NULL OR message_idx >= ?) ORDER BY 1, 2",
        [session_id, from_idx],
    ).fetchall()
    messages = connection.execute(
        "SELECT idx, role, encode(content), encode(thinking), epoch_us(timestamp) FROM messages "
        "WHERE session_id = ? AND idx >= ? ORDER BY 1",
        [session_id, from_idx],
    ).fetchall()
    outputs = connection.execute(
        "SELECT message_idx, call_idx, tool_name, encode(excerpt), epoch_us(timestamp) "
        "FROM tool_outputs "
        "WHERE session_id = ? AND (message_idx IS NULL OR message_idx >= ?) ORDER BY 1, 2",
        [session_id, from_idx],
    ).fetchall()
    tools = tools_by_message((call[0], call[2]) for call in calls)
    return [
        *texts_of_messages(messages, tools, fields),
        *texts_of_calls(calls, fields),
        *texts_of_outputs(outputs, fields),
    ]


def texts_of(part: FilePart, fields: tuple[str, ...]) -> list[Text]:
    """The texts of a part's rows."""
    texts: list[Text] = []
    calls: list[Any] = []
    if column := _columns_by_name(part.tool_calls, "tool_calls"):
        calls = list(
            zip(
                columns.read_integers(column["message_idx"]),
                columns.read_integers(column["idx"]),
                columns.read_texts(column["tool_name"]),
                columns.read_bytes(column["tool_input"]),
                columns.read_bytes(column["bash_command"]),
                columns.read_bigints(column["timestamp"]),
                strict=False,
            )
        )
        texts += texts_of_calls(calls, fields)
    if column := _columns_by_name(part.messages, "messages"):
        messages: Iterable[Any] = zip(
            columns.read_integers(column["idx"]),
            columns.read_texts(column["role"]),
            columns.read_bytes(column["content"]),
            columns.read_bytes(column["thinking"]),
            columns.read_bigints(column["timestamp"]),
            strict=False,
        )
        tools = tools_by_message((call[0], call[2]) for call in calls)
        texts += texts_of_messages(messages, tools, fields)
    if column := _columns_by_name(part.outputs, "tool_outputs"):
        outputs: Iterable[Any] = zip(
            columns.read_integers(column["message_idx"]),
            columns.read_integers(column["call_idx"]),
            columns.read_texts(column["tool_name"]),
            columns.read_bytes(column["excerpt"]),
            columns.read_bigints(column["timestamp"]),
            strict=False,
        )
        texts += texts_of_outputs(outputs, fields)
    return texts


def _columns_by_name(piece: columns.Piece, table: str) -> dict[str, columns.Column]:
    """The piece's columns by their name in `table`; empty if it has no rows."""
    names = (name for name, _ in index_schema.incoming(table))
    return dict(zip(names, piece[1], strict=bool(piece[0])))


def _insert(connection: DuckDBPyConnection, table: str, pieces: list[columns.Piece]) -> None:
    if not pieces:
        return
    connection.register("incoming", columns.table(index_schema.incoming(table), pieces))
    try:
        connection.execute(index_schema.insertion(table))
    finally:
        connection.unregister("incoming")


Counts = tuple[int, int, int | None, int | None, int | None, int | None]


def _counts(connection: DuckDBPyConnection, ids: list[str]) -> dict[str, Counts]:
    """Messages, tool calls and tokens of each session."""
    where_and_group = "WHERE session_id IN (SELECT unnest(?)) GROUP BY session_id"
    messages = dict(
        connection.execute(
            f"SELECT session_id, count(*) FROM messages {where_and_group}", [ids]
        ).fetchall()
    )
    calls = dict(
        connection.execute(
            f"SELECT session_id, count(*) FROM tool_calls {where_and_group}", [ids]
        ).fetchall()
    )
    # A `key` identifies one answer of the model, which may have several rows: only the largest
    # numbers count.
    tokens = {
        row[0]: row[1:]
        for row in connection.execute(
            "SELECT session_id, sum(a)::BIGINT, sum(b)::BIGINT, sum(c)::BIGINT, sum(d)::BIGINT "
            "FROM (SELECT session_id, max(input_tokens) AS a, max(output_tokens) AS b, "
            "max(cache_read_tokens) AS c, max(cache_creation_tokens) AS d FROM usages "
            f"{where_and_group}, key) GROUP BY session_id",
            [ids],
        ).fetchall()
    }
    none = (None, None, None, None)
    return {
        each: (messages.get(each, 0), calls.get(each, 0), *tokens.get(each, none)) for each in ids
    }


def _titles(
    connection: DuckDBPyConnection, parts_by_session: dict[str, list[FilePart]]
) -> dict[str, str | None]:
    """Each session's title: the agent's, or else one derived from its messages. If an earlier pass
    indexed the session's start, its messages are read from DuckDB."""
    titles: dict[str, str | None] = {}
    ids_in_duckdb = []
    for session_id, parts in parts_by_session.items():
        titles[session_id] = clean(parts[-1].session.title)
        if titles[session_id] is None and parts[0].is_first:
            titles[session_id] = best_of(part.title_hint for part in parts)
        elif titles[session_id] is None:
            ids_in_duckdb.append(session_id)
    return titles | stored_titles(connection, ids_in_duckdb)


def _session_row(
    task: Task,
    part: FilePart,
    indexed: IndexedSession,
    title: str | None,
    counts: Counts,
    now: datetime,
) -> tuple[Any, ...]:
    session = part.session
    duration = None
    if session.started_at is not None and session.ended_at is not None:
        duration = max(0, int((session.ended_at - session.started_at).total_seconds()))
    messages, calls, input_tokens, output_tokens, cache_read, cache_creation = counts
    return (
        task.session_id,
        indexed.owner.source,
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
        task.size if part.is_last else UNFINISHED,
        part.mark.decode(),
        now,
        indexed.texts_pending_from,
        None if session.origin is None else session.origin.host,
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
