"""Reads the lines of a growing file. A mark records where the next reading continues."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import BinaryIO

import msgspec

from navi.memory.model import PastSession, SessionFile
from navi.vendors.damaged_line import is_whole, may_be_incomplete
from navi.vendors.source import Chunk, Reading, Rewritten

BLOCK_BYTES = 128 * 1024
"""How much to read at once: small enough to stay in the processor's cache during decoding."""
CHUNK_BYTES = 4 * 1024 * 1024
"""The size of a chunk: worth a write to the index, yet several fit in memory."""
LONGEST_LINE_BYTES = 128 * 1024 * 1024
"""No agent writes longer lines. Longer ones are skipped and counted, not kept in memory."""
PROOF_BYTES = 1024
"""How many bytes, at the file's start and before the mark, must be unchanged to prove that the file
only grew."""
MAX_BAD_LINE_NUMBERS = 20
"""How many bad lines to list by number: as many as a person would check by hand."""


class LineParser(ABC):
    """Turns the lines of one file into rows, and keeps the state that the next reading needs."""

    version = 4
    """Incremented when lines are read differently; every file is then read again from its start."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.session = PastSession()

    @abstractmethod
    def read_lines(self, lines: list[bytes], offset: int, number: int, chunk: Chunk) -> None:
        """Read whole lines into `chunk`. The first begins at `offset` and is line `number`."""

    def count_bad_line(self, number: int) -> None:
        """Record that line `number` can't be read."""
        session = self.session
        session.bad_lines += 1
        if len(session.bad_line_numbers) < MAX_BAD_LINE_NUMBERS:
            session.bad_line_numbers.append(number)

    @abstractmethod
    def state(self) -> bytes:
        """What `restore` needs, as JSON."""

    @abstractmethod
    def restore(self, state: bytes, file: BinaryIO) -> None:
        """Return to a saved state; earlier lines can be read again from `file`."""


class TimestampOnly(msgspec.Struct, gc=False):
    timestamp: datetime | None = None


_timestamp_decoder = msgspec.json.Decoder(TimestampOnly)


def last_timestamp(lines: list[bytes]) -> datetime | None:
    """The time of the last line that has one."""
    for line in reversed(lines):
        if b'"timestamp"' in line:
            try:
                timestamp = _timestamp_decoder.decode(line).timestamp
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if timestamp is not None:
                return timestamp
    return None


class Mark(msgspec.Struct):
    version: int
    offset: int
    lines: int
    """The number of line ends before `offset`."""
    is_open: bool
    """The last line that was read had no line end yet, so one must come next."""
    has_good_line: bool
    head: str
    before: str
    """Digests of the bytes at the file's start and before `offset`; see `PROOF_BYTES`."""
    session: PastSession
    state: msgspec.Raw


class LineReading(Reading):
    def __init__(self, file: SessionFile, parser: LineParser, mark: bytes | None) -> None:
        self._path = file.path
        self._parser = parser
        self._offset = 0
        """The end of the last line that was read."""
        self._line_count = 0
        self._is_open = False
        self._has_good_line = False
        self._head = b""
        self._before = b""
        # Not `with`: the file stays open during the whole reading.
        self._file = open(file.path, "rb", buffering=0)  # noqa: SIM115
        try:
            if mark is not None:
                self._continue_from(mark)
        except BaseException:
            self._file.close()
            raise
        self._rest = b""
        """The beginning of a line whose end has not been read yet."""
        self._has_ended = False

    @property
    def session(self) -> PastSession:  # type: ignore[override]
        return self._parser.session

    @property
    def mark(self) -> bytes:
        return msgspec.json.encode(
            Mark(
                version=self._parser.version,
                offset=self._offset,
                lines=self._line_count,
                is_open=self._is_open,
                has_good_line=self._has_good_line,
                head=_digest(self._head[: self._offset]),
                before=_digest(self._before),
                session=self._parser.session,
                state=msgspec.Raw(self._parser.state()),
            )
        )

    def __next__(self) -> Chunk:
        if self._has_ended:
            raise StopIteration
        chunk = Chunk()
        start = self._offset
        try:
            while self._offset - start < CHUNK_BYTES and not self._has_ended:
                if not self._advance(chunk):
                    self.close()
        except BaseException:
            self.close()
            raise
        if self._offset == start:
            raise StopIteration
        return chunk

    def _advance(self, chunk: Chunk) -> bool:
        """Read the next lines into `chunk`. Returns False at the end of the file."""
        pieces = [self._rest]
        pending_bytes = len(self._rest)
        while block := self._file.read(BLOCK_BYTES):
            if len(self._head) < PROOF_BYTES:
                self._head = (self._head + block)[:PROOF_BYTES]
            end = block.rfind(b"\n") + 1
            if end:
                self._rest = block[end:]
                self._read_block(pieces, pending_bytes, block[:end], chunk)
                return True
            pending_bytes += len(block)
            if pending_bytes <= LONGEST_LINE_BYTES:
                pieces.append(block)
            else:
                pieces = [block[-PROOF_BYTES:]]
        self._read_last_line(b"".join(pieces), pending_bytes > LONGEST_LINE_BYTES, chunk)
        return False

    def _read_block(
        self, pieces: list[bytes], pending_bytes: int, block: bytes, chunk: Chunk
    ) -> None:
        """Read the lines that end in `block`. The first one began in `pieces`."""
        start = self._offset
        data = b"".join([*pieces, block])
        if pending_bytes > LONGEST_LINE_BYTES:
            self._line_count += 1
            self._parser.count_bad_line(self._line_count)
            end = block.find(b"\n") + 1
            start += pending_bytes + end
            complete_lines = block[end:]
        else:
            complete_lines = data
        lines = complete_lines.split(b"\n")
        lines.pop()
        self._read_lines(lines, start, chunk)
        self._line_count += len(lines)
        self._is_open = False
        self._offset = start + len(complete_lines)
        self._before = (self._before + data[-PROOF_BYTES:])[-PROOF_BYTES:]

    def _read_last_line(self, line: bytes, is_too_long: bool, chunk: Chunk) -> None:
        """Read the last line, which has no line end, unless it is too long or unfinished."""
        if not line or line.isspace():
            return
        if is_too_long or (may_be_incomplete(line) and not is_whole(line)):
            self.session.is_cut_off = True
            return
        self._read_lines([line], self._offset, chunk)
        self._is_open = True
        self._offset += len(line)
        self._before = (self._before + line[-PROOF_BYTES:])[-PROOF_BYTES:]

    def _read_lines(self, lines: list[bytes], start: int, chunk: Chunk) -> None:
        session = self.session
        bad_before = session.bad_lines
        self._parser.read_lines(lines, start, self._line_count + 1, chunk)
        if not self._has_good_line:
            nonblank = (line for line in lines if line and not line.isspace())
            # There is a good line if there are more lines than damaged ones.
            self._has_good_line = any(islice(nonblank, session.bad_lines - bad_before, None))
            session.is_readable = self._has_good_line or not session.bad_lines

    def close(self) -> None:
        self._has_ended = True
        self._rest = b""
        self._file.close()

    def _continue_from(self, mark: bytes) -> None:
        try:
            saved = msgspec.json.decode(mark, type=Mark)
        except msgspec.DecodeError as error:
            raise Rewritten(self._path) from error
        if saved.version != self._parser.version:
            raise Rewritten(self._path)
        if os.fstat(self._file.fileno()).st_size < saved.offset:
            raise Rewritten(self._path)
        self._head = read_at(self._file, 0, min(PROOF_BYTES, saved.offset))
        start = max(0, saved.offset - PROOF_BYTES)
        self._before = read_at(self._file, start, saved.offset - start)
        if (_digest(self._head), _digest(self._before)) != (saved.head, saved.before):
            raise Rewritten(self._path)
        if saved.is_open and not _is_line_end(read_at(self._file, saved.offset, 2)):
            raise Rewritten(self._path)
        self._parser.session = saved.session
        saved.session.is_cut_off = False
        self._parser.restore(bytes(saved.state), self._file)
        self._offset, self._line_count = saved.offset, saved.lines
        self._is_open, self._has_good_line = saved.is_open, saved.has_good_line
        self._file.seek(saved.offset)


def _is_line_end(following: bytes) -> bool:
    return following[:1] in (b"", b"\n") or following in (b"\r", b"\r\n")


def read_at(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
