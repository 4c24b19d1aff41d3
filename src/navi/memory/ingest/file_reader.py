"""One file -> frames: its rows as columns."""

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
    """A file to read, and what is known of it."""

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
    """The same of calls outside messages."""


class Frame(msgspec.Struct, array_like=True, tag=True):
    """A stretch of a file. Everything in it is written in one transaction."""

    number: int
    is_first: bool
    """It begins at the file's start: whatever the index has of this session goes."""
    is_last: bool
    session: PastSession
    """As the file described it up to here."""
    mark: bytes
    messages: Piece
    tool_calls: Piece
    usages: Piece
    first_idx: int | None
    """The lowest message that is new or changed; None if there is none."""
    next_idx: int
    """After all messages up to here."""
    next_orphan: int
    replaced_messages: list[str]
    replaced_calls: list[str]
    title_hint: Hint | None
    """What the session may be called by, if the agent has no title for it."""
    bad_lines_before: int
    """How many lines of the file were already known to be damaged."""


class Failure(msgspec.Struct, array_like=True, tag=True):
    """A file that could not be read to its end."""

    number: int
    reason: str


def frames_of(task: Task, source: Source) -> Iterator[Frame | Failure]:
    """Ends with a frame that `is_last`, or with a failure."""
    file = FoundFile(task.path, task.mtime, task.size)
    try:
        known = Place(task.mark is None, task.next_idx, task.next_orphan)
        try:
            reading = source.read(file, task.mark)
        except Rewritten:
            known = Place(True, 0, 0)
            reading = source.read(file)
        known = known._replace(bad_lines=reading.session.bad_lines)
        with closing(reading):
            yield from _frames(task, reading, known)
    except NaviError as error:
        yield Failure(task.number, error.message)
    except OSError as error:
        yield Failure(task.number, (error.strerror or str(error)).lower())
    except Exception as error:
        # A plugin's mistake, or a file nobody thought of, must not stop the other files.
        yield Failure(task.number, f"{type(error).__name__}: {error}")


class Place(NamedTuple):
    """How far a file was read."""

    is_start: bool
    next_idx: int
    next_orphan: int
    bad_lines: int = 0


def _frames(task: Task, reading: Reading, place: Place) -> Iterator[Frame]:
    waiting: Frame | None = None
    is_ended = False
    while not is_ended:
        chunk, is_ended = _chunks(reading)
        if chunk is None:
            break
        if waiting is not None:
            yield waiting
        waiting = _frame(task, chunk, reading, place)
        if not is_ended:
            waiting.session, waiting.mark = replace(reading.session), reading.mark
        place = Place(False, waiting.next_idx, waiting.next_orphan, place.bad_lines)
    if waiting is None:
        waiting = _frame(task, Chunk(), reading, place)
    waiting.is_last = True
    # What the file says of its session may be complete only now.
    waiting.session, waiting.mark = reading.session, reading.mark
    yield waiting


def _chunks(reading: Reading) -> tuple[Chunk | None, bool]:
    """Some chunks as one, so that few answers go on in another frame; and whether all were read."""
    found: Chunk | None = None
    for count, chunk in enumerate(reading, 1):
        if found is None:
            found = chunk
        else:
            found.messages += chunk.messages
            found.tool_calls += chunk.tool_calls
            found.usages += chunk.usages
        if count == CHUNKS_AT_ONCE:
            return found, False
    return found, True


def _frame(task: Task, chunk: Chunk, reading: Reading, place: Place) -> Frame:
    mine = task.session_id
    messages = list({message.idx: message for message in chunk.messages}.values())
    calls = list({(call.message_idx, call.idx): call for call in chunk.tool_calls}.values())
    touched = [message.idx for message in messages]
    touched += [call.message_idx for call in calls if call.message_idx is not None]
    orphans = [call.idx for call in calls if call.message_idx is None]
    ids = {idx: message_id(mine, idx) for idx in dict.fromkeys(touched)}
    return Frame(
        number=task.number,
        is_first=place.is_start,
        is_last=False,
        session=reading.session,
        mark=b"",
        messages=_messages(mine, messages, ids),
        tool_calls=_tool_calls(mine, calls, ids),
        usages=_usages(mine, chunk.usages),
        first_idx=min(touched, default=None),
        next_idx=max(place.next_idx, 1 + max(touched, default=-1)),
        next_orphan=max(place.next_orphan, 1 + max(orphans, default=-1)),
        replaced_messages=[
            ids[message.idx] for message in messages if message.idx < place.next_idx
        ],
        replaced_calls=[
            call_id(mine, call.message_idx, call.idx) for call in calls if _is_known(call, place)
        ],
        title_hint=None if reading.session.title else _title_hint(messages, calls),
        bad_lines_before=place.bad_lines,
    )


def _title_hint(messages: list[PastMessage], calls: list[PastToolCall]) -> Hint | None:
    hint = hint_of_messages((each.role, each.content, each.thinking) for each in messages)
    if hint is None and calls:
        return hint_of_call(calls[0].tool_name, calls[0].command)
    return hint


def _is_known(call: PastToolCall, place: Place) -> bool:
    """Whether it may change what the index has: a call of before, or of a message of before."""
    if call.message_idx is None:
        return call.idx < place.next_orphan
    return call.message_idx < place.next_idx


def _messages(mine: str, rows: list[PastMessage], ids: Mapping[int, str]) -> Piece:
    if not rows:
        return 0, []
    idx, role, content, thinking, timestamp = zip(*rows, strict=True)
    return len(rows), [
        columns.texts([ids[each] for each in idx]),
        columns.repeated(mine, len(rows)),
        columns.integers(idx),
        columns.texts(role),
        columns.texts(content),
        columns.texts(thinking),
        columns.instants(timestamp),
        columns.booleans([bool(each) for each in thinking]),
    ]


def _tool_calls(mine: str, rows: list[PastToolCall], ids: Mapping[int, str]) -> Piece:
    if not rows:
        return 0, []
    message_idx, idx, name, given, command, timestamp = zip(*rows, strict=True)
    lines = [None if each is None else read_command(each) for each in command]
    messages = [None if each is None else ids[each] for each in message_idx]
    return len(rows), [
        columns.texts(
            [
                call_id(mine, None, place) if message is None else call_id_in(message, place)
                for message, place in zip(messages, idx, strict=True)
            ]
        ),
        columns.repeated(mine, len(rows)),
        columns.texts(messages),
        columns.integers(message_idx),
        columns.integers(idx),
        columns.texts(name),
        columns.texts(given),
        columns.texts(command),
        columns.texts([None if line is None else line.base for line in lines]),
        columns.texts([None if line is None else line.sub for line in lines]),
        columns.booleans([line is not None and line.is_compound for line in lines]),
        columns.instants(timestamp),
    ]


def _usages(mine: str, rows: list[PastUsage]) -> Piece:
    """The same answer may come again with larger numbers; whoever sums takes the largest."""
    if not rows:
        return 0, []
    key, model, timestamp, given, answered, cache_read, cache_made = zip(*rows, strict=True)
    return len(rows), [
        columns.texts(key),
        columns.repeated(mine, len(rows)),
        columns.texts(model),
        columns.instants(timestamp),
        columns.bigints(given),
        columns.bigints(answered),
        columns.bigints(cache_read),
        columns.bigints(cache_made),
    ]
