"""Reads one file into frames: its rows as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import msgspec

from navi.base.errors import NaviError
from navi.memory.ingest.derived.titles import Hint, hint_of_call, hint_of_messages
from navi.memory.ingest.write import columns
from navi.memory.ingest.write.columns import Piece
from navi.memory.model import FoundFile, PastMessage, PastSession, PastToolCall, PastUsage
from navi.memory.record_ids import call_id, call_id_in, message_id
from navi.permissions.shell.shell_line import read_command
from navi.vendors.source import Chunk, Reading, Rewritten, Source

CHUNKS_AT_ONCE = 4


class Task(msgspec.Struct, array_like=True, frozen=True):
    """A file to read, and where to continue."""

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
    """The same for tool calls outside messages."""


class Frame(msgspec.Struct, array_like=True, tag=True):
    """Part of a file, written in one transaction."""

    number: int
    is_first: bool
    """It begins at the start of the file, so it replaces what the index has of this session."""
    is_last: bool
    session: PastSession
    """As the file described it up to here."""
    mark: bytes
    messages: Piece
    tool_calls: Piece
    usages: Piece
    first_idx: int | None
    """The first message that is new or changed, if any."""
    next_idx: int
    """One past the last message up to here."""
    next_orphan: int
    replaced_messages: list[str]
    replaced_calls: list[str]
    title_hint: Hint | None
    """A title for the session, in case its agent has none."""
    bad_lines_before: int
    """Damaged lines that earlier runs reported."""


class Failure(msgspec.Struct, array_like=True, tag=True):
    """A file that could not be read to its end."""

    number: int
    reason: str


def frames_of(task: Task, source: Source) -> Iterator[Frame | Failure]:
    """Ends with a frame that `is_last`, or with a failure."""
    file = FoundFile(task.path, task.mtime, task.size)
    try:
        position = Position(task.mark is None, task.next_idx, task.next_orphan)
        try:
            reading = source.read(file, task.mark)
        except Rewritten:
            position = Position(True, 0, 0)
            reading = source.read(file)
        position = position._replace(bad_lines=reading.session.bad_lines)
        with closing(reading):
            yield from _frames(task, reading, position)
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
    bad_lines: int = 0


def _frames(task: Task, reading: Reading, position: Position) -> Iterator[Frame]:
    pending: Frame | None = None
    is_last = False
    while not is_last:
        chunk, is_last = _merged_chunks(reading)
        if chunk is None:
            break
        if pending is not None:
            yield pending
        pending = _frame(task, chunk, reading, position)
        if not is_last:
            pending.session, pending.mark = replace(reading.session), reading.mark
        position = Position(False, pending.next_idx, pending.next_orphan, position.bad_lines)
    if pending is None:
        pending = _frame(task, Chunk(), reading, position)
    pending.is_last = True
    # Only now has the file said everything about its session.
    pending.session, pending.mark = reading.session, reading.mark
    yield pending


def _merged_chunks(reading: Reading) -> tuple[Chunk | None, bool]:
    """A few chunks as one, so that few answers are split across frames, and whether it is the last.

    None if there are no more.
    """
    merged: Chunk | None = None
    for count, chunk in enumerate(reading, 1):
        if merged is None:
            merged = chunk
        else:
            merged.messages += chunk.messages
            merged.tool_calls += chunk.tool_calls
            merged.usages += chunk.usages
        if count == CHUNKS_AT_ONCE:
            return merged, False
    return merged, True


def _frame(task: Task, chunk: Chunk, reading: Reading, position: Position) -> Frame:
    session = task.session_id
    messages = list({message.idx: message for message in chunk.messages}.values())
    calls = list({(call.message_idx, call.idx): call for call in chunk.tool_calls}.values())
    changed = [message.idx for message in messages]
    changed += [call.message_idx for call in calls if call.message_idx is not None]
    orphans = [call.idx for call in calls if call.message_idx is None]
    ids = {idx: message_id(session, idx) for idx in dict.fromkeys(changed)}
    return Frame(
        number=task.number,
        is_first=position.is_start,
        is_last=False,
        session=reading.session,
        mark=b"",
        messages=_messages(session, messages, ids),
        tool_calls=_tool_calls(session, calls, ids),
        usages=_usages(session, chunk.usages),
        first_idx=min(changed, default=None),
        next_idx=max(position.next_idx, 1 + max(changed, default=-1)),
        next_orphan=max(position.next_orphan, 1 + max(orphans, default=-1)),
        replaced_messages=[
            ids[message.idx] for message in messages if message.idx < position.next_idx
        ],
        replaced_calls=[
            call_id(session, call.message_idx, call.idx)
            for call in calls
            if _may_replace(call, position)
        ],
        title_hint=None if reading.session.title else _title_hint(messages, calls),
        bad_lines_before=position.bad_lines,
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


def _messages(session: str, rows: list[PastMessage], ids: Mapping[int, str]) -> Piece:
    if not rows:
        return 0, []
    idx, role, content, thinking, timestamp = zip(*rows, strict=True)
    return len(rows), [
        columns.texts([ids[each] for each in idx]),
        columns.repeated(session, len(rows)),
        columns.integers(idx),
        columns.texts(role),
        columns.texts(content),
        columns.texts(thinking),
        columns.instants(timestamp),
        columns.booleans([bool(each) for each in thinking]),
    ]


def _tool_calls(session: str, rows: list[PastToolCall], ids: Mapping[int, str]) -> Piece:
    if not rows:
        return 0, []
    message_idx, idx, name, tool_input, command, timestamp = zip(*rows, strict=True)
    lines = [None if each is None else read_command(each) for each in command]
    messages = [None if each is None else ids[each] for each in message_idx]
    return len(rows), [
        columns.texts(
            [
                call_id(session, None, number) if message is None else call_id_in(message, number)
                for message, number in zip(messages, idx, strict=True)
            ]
        ),
        columns.repeated(session, len(rows)),
        columns.texts(messages),
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


def _usages(session: str, rows: list[PastUsage]) -> Piece:
    """An answer may appear again with larger numbers; queries take the largest."""
    if not rows:
        return 0, []
    key, model, timestamp, input_tokens, output_tokens, cache_read, cache_creation = zip(
        *rows, strict=True
    )
    return len(rows), [
        columns.texts(key),
        columns.repeated(session, len(rows)),
        columns.texts(model),
        columns.instants(timestamp),
        columns.bigints(input_tokens),
        columns.bigints(output_tokens),
        columns.bigints(cache_read),
        columns.bigints(cache_creation),
    ]
