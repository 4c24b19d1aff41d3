"""Reads one file, part by part. A part holds rows as columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import msgspec

from navi.base.errors import NaviError
from navi.memory.ingest.derived.output_excerpts import excerpt
from navi.memory.ingest.derived.titles import Hint, hint_of_call, hint_of_messages
from navi.memory.ingest.write import columns
from navi.memory.ingest.write.columns import Piece
from navi.memory.model import (
    PastMessage,
    PastOutput,
    PastSession,
    PastToolCall,
    PastTurn,
    PastUsage,
    SessionFile,
)
from navi.memory.record_ids import call_id, message_id
from navi.permissions.shell.shell_line import read_command
from navi.vendors.source import Chunk, Reading, Rewritten, Source

CHUNKS_PER_PART = 4


class Task(msgspec.Struct, array_like=True, frozen=True):
    """A file to read, and where to continue; from its start if there is no `mark`."""

    number: int
    session_id: str
    source: str
    path: str
    mtime: float
    size: int
    mark: bytes | None
    next_idx: int
    """Messages before this one are in the index already."""
    next_orphan: int = 0
    """Tool calls outside messages that come before this one are in the index already."""


class FilePart(msgspec.Struct, array_like=True, tag=True):
    """Rows from a part of a file, written in one transaction."""

    task_number: int
    is_first: bool
    """It begins at the start of the file, so it replaces what the index has of this session."""
    is_last: bool
    session: PastSession
    """As described by the file up to the end of this part."""
    mark: bytes
    messages: Piece
    tool_calls: Piece
    outputs: Piece
    usages: Piece
    turns: Piece
    first_idx: int | None
    """The first message that is new or changed, or has a new tool call or output, if any."""
    next_idx: int
    """One more than the `idx` of the last message up to here."""
    next_orphan: int
    replaced_message_ids: list[str]
    """Messages in this part that the index may already have in an older version."""
    replaced_call_ids: list[str]
    """The same for tool calls."""
    title_hint: Hint | None
    """A title for the session, in case its agent gives it none."""
    bad_lines_before: int
    """How many damaged lines earlier passes reported."""


class Failure(msgspec.Struct, array_like=True, tag=True):
    """A file that could not be read to its end."""

    task_number: int
    reason: str


def parts_of(task: Task, source: Source) -> Iterator[FilePart | Failure]:
    """The parts of a file. The last one `is_last`, unless a failure takes its place."""
    file = SessionFile(task.path, task.mtime, task.size)
    try:
        position = Position(task.mark is None, task.next_idx, task.next_orphan)
        try:
            reading = source.read(file, task.mark)
        except Rewritten:
            position = Position(True, 0, 0)
            reading = source.read(file)
        position = position._replace(bad_lines_before=reading.session.bad_lines)
        with closing(reading):
            yield from _parts(task, reading, position)
    except NaviError as error:
        yield Failure(task.number, error.message)
    except OSError as error:
        yield Failure(task.number, (error.strerror or str(error)).lower())
    except Exception as error:
        # A bug in a plugin, or an unforeseen kind of file, must not stop the other files.
        yield Failure(task.number, f"{type(error).__name__}: {error}")


class Position(NamedTuple):
    """How far a file has been read."""

    is_start: bool
    next_idx: int
    next_orphan: int
    bad_lines_before: int = 0


def _parts(task: Task, reading: Reading, position: Position) -> Iterator[FilePart]:
    pending: FilePart | None = None
    is_last = False
    while not is_last:
        chunk, is_last = _merged_chunks(reading)
        if chunk is None:
            break
        if pending is not None:
            yield pending
        pending = _part(task, chunk, reading, position)
        if not is_last:
            pending.session, pending.mark = replace(reading.session), reading.mark
        position = position._replace(
            is_start=False, next_idx=pending.next_idx, next_orphan=pending.next_orphan
        )
    if pending is None:
        pending = _part(task, Chunk(), reading, position)
    pending.is_last = True
    # The session's values are complete only after the last line.
    pending.session, pending.mark = reading.session, reading.mark
    yield pending


def _merged_chunks(reading: Reading) -> tuple[Chunk | None, bool]:
    """The next few chunks as one, so that few answers are split across parts.

    None if no chunk is left. The second value is true if the end was reached.
    """
    merged: Chunk | None = None
    for count, chunk in enumerate(reading, 1):
        if merged is None:
            merged = chunk
        else:
            merged.messages += chunk.messages
            merged.tool_calls += chunk.tool_calls
            merged.outputs += chunk.outputs
            merged.usages += chunk.usages
            merged.turns += chunk.turns
        if count == CHUNKS_PER_PART:
            return merged, False
    return merged, True


def _part(task: Task, chunk: Chunk, reading: Reading, position: Position) -> FilePart:
    session_id = task.session_id
    messages = list({message.idx: message for message in chunk.messages}.values())
    calls = list({(call.message_idx, call.idx): call for call in chunk.tool_calls}.values())
    changed_idx = [message.idx for message in messages]
    changed_idx += [call.message_idx for call in calls if call.message_idx is not None]
    answered_idx = [each.message_idx for each in chunk.outputs if each.message_idx is not None]
    orphan_idx = [call.idx for call in calls if call.message_idx is None]
    return FilePart(
        task_number=task.number,
        is_first=position.is_start,
        is_last=False,
        session=reading.session,
        mark=b"",
        messages=_messages(session_id, messages),
        tool_calls=_tool_calls(session_id, calls),
        outputs=_outputs(session_id, chunk.outputs, chunk.has_excerpts),
        usages=_usages(session_id, chunk.usages),
        turns=_turns(session_id, chunk.turns),
        first_idx=min(changed_idx + answered_idx, default=None),
        next_idx=max(position.next_idx, 1 + max(changed_idx, default=-1)),
        next_orphan=max(position.next_orphan, 1 + max(orphan_idx, default=-1)),
        replaced_message_ids=[
            message_id(session_id, message.idx)
            for message in messages
            if message.idx < position.next_idx
        ],
        replaced_call_ids=[
            call_id(session_id, call.message_idx, call.idx)
            for call in calls
            if _may_replace(call, position)
        ],
        title_hint=None if reading.session.title else _title_hint(messages, calls),
        bad_lines_before=position.bad_lines_before,
    )


def _title_hint(messages: list[PastMessage], calls: list[PastToolCall]) -> Hint | None:
    hint = hint_of_messages((each.role, each.content, each.thinking) for each in messages)
    if hint is None and calls:
        return hint_of_call(calls[0].tool_name, calls[0].command)
    return hint


def _may_replace(call: PastToolCall, position: Position) -> bool:
    """Whether the index may already have the call."""
    if call.message_idx is None:
        return call.idx < position.next_orphan
    return call.message_idx < position.next_idx


def _messages(session_id: str, rows: list[PastMessage]) -> Piece:
    if not rows:
        return 0, []
    idx, role, content, thinking, timestamp = zip(*rows, strict=True)
    return len(rows), [
        columns.repeated(session_id, len(rows)),
        columns.integers(idx),
        columns.texts(role),
        columns.texts(content),
        columns.texts(thinking),
        columns.instants(timestamp),
        columns.booleans([bool(each) for each in thinking]),
    ]


def _tool_calls(session_id: str, rows: list[PastToolCall]) -> Piece:
    if not rows:
        return 0, []
    message_idx, idx, name, tool_input, command, timestamp = zip(*rows, strict=True)
    lines = [None if each is None else read_command(each) for each in command]
    return len(rows), [
        columns.repeated(session_id, len(rows)),
        columns.integers(message_idx),
        columns.integers(idx),
        columns.texts(name),
        columns.texts(tool_input),
        columns.texts(command),
        columns.texts([None if line is None else line.base for line in lines]),
        columns.texts([None if line is None else line.sub for line in lines]),
        columns.booleans([line is not None and line.is_compound for line in lines]),
        columns.instants(timestamp),
    ]


def _outputs(session_id: str, rows: list[PastOutput], are_excerpts: bool) -> Piece:
    if not rows:
        return 0, []
    message_idx, call_idx, tool, text, timestamp, is_error = zip(*rows, strict=True)
    return len(rows), [
        columns.repeated(session_id, len(rows)),
        columns.integers(message_idx),
        columns.integers(call_idx),
        columns.texts(tool),
        columns.texts(text if are_excerpts else [excerpt(each) for each in text]),
        columns.instants(timestamp),
        columns.booleans(is_error),
    ]


def _turns(session_id: str, rows: list[PastTurn]) -> Piece:
    if not rows:
        return 0, []
    key, origin, outcome, error, timestamp = zip(*rows, strict=True)
    return len(rows), [
        columns.repeated(session_id, len(rows)),
        columns.texts(key),
        columns.texts(origin),
        columns.texts(outcome),
        columns.texts(error),
        columns.instants(timestamp),
    ]


def _usages(session_id: str, rows: list[PastUsage]) -> Piece:
    """An answer may appear again with more tokens; queries take the largest numbers."""
    if not rows:
        return 0, []
    key, model, timestamp, input_tokens, output_tokens, cache_read, cache_creation = zip(
        *rows, strict=True
    )
    return len(rows), [
        columns.texts(key),
        columns.repeated(session_id, len(rows)),
        columns.texts(model),
        columns.instants(timestamp),
        columns.bigints(input_tokens),
        columns.bigints(output_tokens),
        columns.bigints(cache_read),
        columns.bigints(cache_creation),
    ]
