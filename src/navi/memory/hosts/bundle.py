"""One session as a file: gzipped JSON lines. First the head, then the rows, then their number.

A bundle comes from another machine, so every line is checked against the types below.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import IO, Annotated

import msgspec

from navi.base.errors import NaviError
from navi.base.secrets.masking import masked, masked_json
from navi.memory.hosts.this_machine import ID, Host

FORMAT = "recall-session"
VERSION = 1
LARGEST_FILE = 256 * 1024 * 1024
LARGEST_CONTENT = 1024 * 1024 * 1024
LONGEST_LINE = 64 * 1024 * 1024
_SOURCE = re.compile(r"[a-z0-9_]{1,40}")
_YEAR_1, _YEAR_9999 = -62_135_596_800_000_000, 253_402_300_799_000_000

Instant = Annotated[int, msgspec.Meta(ge=_YEAR_1, le=_YEAR_9999)]
"""Microseconds since 1970."""
Number = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 2)]
Count = Annotated[int, msgspec.Meta(ge=-(2**53), le=2**53)]
"""Negative numbers are allowed, because agents' files have them even for tokens."""
Name = Annotated[str, msgspec.Meta(max_length=1000)]
Folder = Annotated[str, msgspec.Meta(max_length=4096)]


class BadBundle(NaviError):
    """A bundle that is damaged, of another version, or not what it claims to be."""

    kind = "bad_bundle"


class Head(msgspec.Struct, frozen=True, omit_defaults=True):
    """The session, and which machine it is from."""

    host: Host
    id: str
    """The session's id, the same on every machine."""
    revision: Annotated[int, msgspec.Meta(ge=0, le=10**16 - 1)]
    """When its machine first saw this content. A later revision replaces an earlier one."""
    at: Instant
    """When something last happened in the session."""
    source: str
    source_session_id: Name | None = None
    parent_source_session_id: Name | None = None
    is_subagent: bool = False
    title: Annotated[str, msgspec.Meta(max_length=10_000)] | None = None
    started_at: Instant | None = None
    ended_at: Instant | None = None
    model: Name | None = None
    cwd: Folder | None = None
    git_repo: Folder | None = None
    git_branch: Name | None = None
    bad_lines: Number = 0
    is_masked: bool = False
    """Whether its secrets were masked before it was sent."""
    format: str = ""
    version: int = 0

    @property
    def rank(self) -> tuple[int, bool]:
        """Of two states of a session, the one with the higher rank is better."""
        return self.revision, not self.is_masked


class Message(msgspec.Struct, array_like=True, tag="message", frozen=True):
    idx: Number
    role: Name
    content: str | None
    thinking: str | None
    at: Instant | None


class Call(msgspec.Struct, array_like=True, tag="call", frozen=True):
    message_idx: Number | None
    idx: Number
    tool: Name
    input: str | None
    command: str | None
    at: Instant | None


class Output(msgspec.Struct, array_like=True, tag="output", frozen=True):
    message_idx: Number | None
    call_idx: Number
    tool: Name
    excerpt: str
    at: Instant | None
    is_error: bool | None = None


class Turn(msgspec.Struct, array_like=True, tag="turn", frozen=True):
    key: Name
    origin: Name | None
    outcome: Name
    error: str | None
    at: Instant | None


class Usage(msgspec.Struct, array_like=True, tag="usage", frozen=True):
    key: Name
    model: Name | None
    at: Instant | None
    input: Count
    output: Count
    cache_read: Count
    cache_creation: Count


class End(msgspec.Struct, array_like=True, tag="end", frozen=True):
    rows: int


Row = Message | Call | Output | Turn | Usage
_head_decoder = msgspec.json.Decoder(Head)
_row_decoder: msgspec.json.Decoder[Row | End] = msgspec.json.Decoder(Row | End)
_encoder = msgspec.json.Encoder()


def write_bundle(file: IO[bytes], head: Head, rows: Iterable[Row]) -> None:
    with gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0) as lines:
        lines.write(
            _encoder.encode(msgspec.structs.replace(head, format=FORMAT, version=VERSION)) + b"\n"
        )
        count = 0
        for row in rows:
            lines.write(_encoder.encode(row) + b"\n")
            count += 1
        lines.write(_encoder.encode(End(count)) + b"\n")


def read_head(path: Path) -> Head:
    with open(path, "rb") as file:
        return _head(next(_lines(file)))


def read_rows(path: Path) -> Generator[Row, None, None]:
    """The rows, in their order. Raises `BadBundle` at the end if any are missing."""
    with open(path, "rb") as file:
        lines = _lines(file)
        _head(next(lines))
        for count, line in enumerate(lines):
            try:
                row = _row_decoder.decode(line)
            except (msgspec.DecodeError, RecursionError) as error:
                raise BadBundle(f"its line {count + 2} is not valid: {error}") from error
            if isinstance(row, End):
                if row.rows != count or next(lines, None) is not None:
                    raise BadBundle("it does not have as many lines as it should")
                return
            yield row
    raise BadBundle("its end is missing")


def check(path: Path) -> Head:
    """Read the whole bundle. Raises `BadBundle` if anything is wrong."""
    if path.stat().st_size > LARGEST_FILE:
        raise BadBundle(f"it is larger than {LARGEST_FILE >> 20} MB")
    head = read_head(path)
    for _ in read_rows(path):
        pass
    return head


def without_secrets(head: Head, rows: Iterable[Row]) -> tuple[Head, Iterator[Row]]:
    head = msgspec.structs.replace(head, title=masked(head.title), is_masked=True)
    return head, map(_masked_row, rows)


def _masked_row(row: Row) -> Row:
    replace = msgspec.structs.replace
    if isinstance(row, Message):
        return replace(row, content=masked(row.content), thinking=masked(row.thinking))
    if isinstance(row, Output):
        return replace(row, excerpt=masked(row.excerpt))
    if isinstance(row, Turn):
        return replace(row, error=masked(row.error))
    if isinstance(row, Call):
        return replace(row, input=_masked_input(row.input), command=masked(row.command))
    return row


def _masked_input(text: str | None) -> str | None:
    if text is None:
        return None
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return masked(text)
    return _encoder.encode(masked_json(text)).decode()


def _head(line: bytes) -> Head:
    try:
        head = _head_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadBundle(f"it doesn't begin like a session: {error}") from error
    if head.format != FORMAT:
        raise BadBundle("it is not a session of recall")
    if head.version != VERSION:
        raise BadBundle(f"it has format {head.version}, but this version of recall reads {VERSION}")
    if not head.host.is_valid or not ID.fullmatch(head.id) or not _SOURCE.fullmatch(head.source):
        raise BadBundle("its ids or names are not valid")
    return head


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    size = 0
    with gzip.GzipFile(fileobj=file, mode="rb") as lines:
        while True:
            try:
                line = lines.readline(LONGEST_LINE + 1)
            except (OSError, EOFError, zlib.error) as error:
                raise BadBundle(f"it is damaged: {error}") from error
            size += len(line)
            if len(line) > LONGEST_LINE or size > LARGEST_CONTENT:
                raise BadBundle(f"its content is larger than {LARGEST_CONTENT >> 20} MB")
            if not line:
                break
            yield line
    if not size:
        raise BadBundle("it is empty")
