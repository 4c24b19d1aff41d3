"""Whole lines of a growing file, and the mark from which a later read goes on."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import BinaryIO

import msgspec

from navi.memory.model import FoundFile, PastSession
from navi.vendors.damaged_line import is_whole, may_be_half
from navi.vendors.source import Chunk, Reading, Rewritten

BLOCK_BYTES = 128 * 1024
"""What is read at once: small enough to stay in the processor's cache while it is taken apart."""
CHUNK_BYTES = 4 * 1024 * 1024
"""Big enough that a chunk is worth writing, small enough for a few of them in memory."""
LONGEST_LINE_BYTES = 128 * 1024 * 1024
"""A longer one is no line of any agent; it is skipped and counted, not held in memory."""
PROOF_BYTES = 1024
"""How much of the file's head, and of what stands before the mark, proves that it only grew."""
MOST_LINE_NUMBERS = 20
"""Enough to look at by hand; a file with more damaged lines needs another cure."""


class Transcript(ABC):
    """What is known of one file after some of its lines, and the rows that further lines make."""

    version = 2
    """Raised when lines are read differently than before: every file is then read anew, once."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.session = PastSession()

    @abstractmethod
    def take(self, lines: list[bytes], offset: int, number: int, chunk: Chunk) -> None:
        """Read whole lines into `chunk`. The first begins at `offset` and is line `number`."""

    def count_bad_line(self, number: int) -> None:
        """Line `number` can't be read."""
        session = self.session
        session.bad_lines += 1
        if len(session.bad_line_numbers) < MOST_LINE_NUMBERS:
            session.bad_line_numbers.append(number)

    @abstractmethod
    def state(self) -> bytes:
        """All that `restore` needs to go on, as JSON."""

    @abstractmethod
    def restore(self, state: bytes, file: BinaryIO) -> None:
        """Back to where `state` was taken; `file` is open for looking at earlier lines again."""


class Moment(msgspec.Struct, gc=False):
    timestamp: datetime | None = None


_moments = msgspec.json.Decoder(Moment)


def last_moment(lines: list[bytes]) -> datetime | None:
    """The time of the last line that has one."""
    for line in reversed(lines):
        if b'"timestamp"' in line:
            try:
                moment = _moments.decode(line).timestamp
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            if moment is not None:
                return moment
    return None


class Mark(msgspec.Struct):
    version: int
    offset: int
    lines: int
    """How many line ends stand before `offset`."""
    is_open: bool
    """The last line was read without its end: nothing but a line end may follow."""
    has_good_line: bool
    head: str
    before: str
    session: PastSession
    state: msgspec.Raw


class LineReading(Reading):
    def __init__(self, file: FoundFile, transcript: Transcript, mark: bytes | None) -> None:
        self._path = file.path
        self._transcript = transcript
        self._offset = 0
        """Everything before is read: the end of a whole line."""
        self._lines = 0
        self._is_open = False
        self._has_good_line = False
        self._head = b""
        self._before = b""
        # No `with`: the file stays open as long as the reading goes on.
        self._file = open(file.path, "rb", buffering=0)  # noqa: SIM115
        try:
            if mark is not None:
                self._go_on_from(mark)
        except BaseException:
            self._file.close()
            raise
        self._rest = b""
        """Read from the file, but not yet followed by a line's end."""
        self._ended = False

    @property
    def session(self) -> PastSession:  # type: ignore[override]
        return self._transcript.session

    @property
    def mark(self) -> bytes:
        return msgspec.json.encode(
            Mark(
                version=self._transcript.version,
                offset=self._offset,
                lines=self._lines,
                is_open=self._is_open,
                has_good_line=self._has_good_line,
                head=_digest(self._head[: self._offset]),
                before=_digest(self._before),
                session=self._transcript.session,
                state=msgspec.Raw(self._transcript.state()),
            )
        )

    def __next__(self) -> Chunk:
        if self._ended:
            raise StopIteration
        chunk = Chunk()
        start = self._offset
        try:
            while self._offset - start < CHUNK_BYTES and not self._ended:
                if not self._advance(chunk):
                    self.close()
        except BaseException:
            self.close()
            raise
        if self._offset == start:
            raise StopIteration
        return chunk

    def _advance(self, chunk: Chunk) -> bool:
        """Read on to the next line's end, and all lines up to there; False at the file's end."""
        pieces = [self._rest]
        held = len(self._rest)
        while block := self._file.read(BLOCK_BYTES):
            if len(self._head) < PROOF_BYTES:
                self._head = (self._head + block)[:PROOF_BYTES]
            end = block.rfind(b"\n") + 1
            if end:
                self._rest = block[end:]
                self._take(pieces, held, block[:end], chunk)
                return True
            held += len(block)
            if held <= LONGEST_LINE_BYTES:
                pieces.append(block)
            else:
                pieces = [block[-PROOF_BYTES:]]
        self._take_last(b"".join(pieces), held > LONGEST_LINE_BYTES, chunk)
        return False

    def _take(self, pieces: list[bytes], held: int, block: bytes, chunk: Chunk) -> None:
        start = self._offset
        seen = b"".join([*pieces, block])
        if held > LONGEST_LINE_BYTES:
            self._lines += 1
            self._transcript.count_bad_line(self._lines)
            end = block.find(b"\n") + 1
            start += held + end
            block = block[end:]
        else:
            block = seen
        lines = block.split(b"\n")
        lines.pop()
        self._read(lines, start, chunk)
        self._lines += len(lines)
        self._is_open = False
        self._offset = start + len(block)
        self._before = (self._before + seen[-PROOF_BYTES:])[-PROOF_BYTES:]

    def _take_last(self, line: bytes, is_too_long: bool, chunk: Chunk) -> None:
        """The line at the file's end that has no line end: read if more can't belong to it."""
        if not line or line.isspace():
            return
        if is_too_long or (may_be_half(line) and not is_whole(line)):
            self.session.is_cut_off = True
            return
        self._read([line], self._offset, chunk)
        self._is_open = True
        self._offset += len(line)
        self._before = (self._before + line[-PROOF_BYTES:])[-PROOF_BYTES:]

    def _read(self, lines: list[bytes], start: int, chunk: Chunk) -> None:
        session = self.session
        bad_before = session.bad_lines
        self._transcript.take(lines, start, self._lines + 1, chunk)
        if not self._has_good_line:
            filled = (line for line in lines if line and not line.isspace())
            # More of them than are damaged: mostly the first one says so.
            self._has_good_line = any(islice(filled, session.bad_lines - bad_before, None))
            session.is_readable = self._has_good_line or not session.bad_lines

    def close(self) -> None:
        self._ended = True
        self._rest = b""
        self._file.close()

    def _go_on_from(self, mark: bytes) -> None:
        try:
            found = msgspec.json.decode(mark, type=Mark)
        except msgspec.DecodeError as error:
            raise Rewritten(self._path) from error
        if found.version != self._transcript.version:
            raise Rewritten(self._path)
        if os.fstat(self._file.fileno()).st_size < found.offset:
            raise Rewritten(self._path)
        self._head = read_at(self._file, 0, min(PROOF_BYTES, found.offset))
        start = max(0, found.offset - PROOF_BYTES)
        self._before = read_at(self._file, start, found.offset - start)
        if (_digest(self._head), _digest(self._before)) != (found.head, found.before):
            raise Rewritten(self._path)
        if found.is_open and not _is_line_end(read_at(self._file, found.offset, 2)):
            raise Rewritten(self._path)
        self._transcript.session = found.session
        found.session.is_cut_off = False
        self._transcript.restore(bytes(found.state), self._file)
        self._offset, self._lines = found.offset, found.lines
        self._is_open, self._has_good_line = found.is_open, found.has_good_line
        self._file.seek(found.offset)


def _is_line_end(following: bytes) -> bool:
    return following[:1] in (b"", b"\n") or following in (b"\r", b"\r\n")


def read_at(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _digest(stretch: bytes) -> str:
    return blake2b(stretch, digest_size=8).hexdigest()
