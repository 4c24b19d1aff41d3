"""Reads the lines of a growing file. A mark tells the next reading where to continue."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from datetime import datetime
from hashlib import blake2b
from itertools import islice
from typing import BinaryIO

import msgspec

from navi.memory.model import FoundFile, PastSession
from navi.vendors.damaged_line import is_whole, may_be_incomplete
from navi.vendors.source import Chunk, Reading, Rewritten

BLOCK_BYTES = 128 * 1024
"""How much to read at once: small enough to stay in the processor's cache while it is decoded."""
CHUNK_BYTES = 4 * 1024 * 1024
"""Big enough to be worth a write, small enough to keep a few in memory."""
LONGEST_LINE_BYTES = 128 * 1024 * 1024
"""No agent writes longer lines. They are skipped and counted, not kept in memory."""
PROOF_BYTES = 1024
"""How many bytes, at the file's start and before the mark, must be unchanged to prove that the file
only grew."""
MOST_LINE_NUMBERS = 20
"""Nobody looks at more damaged lines by hand."""


class Transcript(ABC):
    """Turns the lines of one file into rows, and keeps the state that the next reading needs."""

    version = 2
    """Increased when lines are read differently; every file is then read again from its start."""

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
        if len(session.bad_line_numbers) < MOST_LINE_NUMBERS:
            session.bad_line_numbers.append(number)

    @abstractmethod
    def state(self) -> bytes:
        """What `restore` needs, as JSON."""

    @abstractmethod
    def restore(self, state: bytes, file: BinaryIO) -> None:
        """Return to a saved state; earlier lines can be read again from `file`."""


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
    """The number of line ends before `offset`."""
    is_open: bool
    """The last line had no line end yet, so a line end must come next."""
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
        """The end of the last complete line that was read."""
        self._lines = 0
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
        """Read lines up to a line end into `chunk`. False at the end of the file."""
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
        seen = b"".join([*pieces, block])
        if pending_bytes > LONGEST_LINE_BYTES:
            self._lines += 1
            self._transcript.count_bad_line(self._lines)
            end = block.find(b"\n") + 1
            start += pending_bytes + end
            block = block[end:]
        else:
            block = seen
        lines = block.split(b"\n")
        lines.pop()
        self._read_lines(lines, start, chunk)
        self._lines += len(lines)
        self._is_open = False
        self._offset = start + len(block)
        self._before = (self._before + seen[-PROOF_BYTES:])[-PROOF_BYTES:]

    def _read_last_line(self, line: bytes, is_too_long: bool, chunk: Chunk) -> None:
        """Read the last line, which has no line end, unless its agent may still be writing it."""
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
        self._transcript.read_lines(lines, start, self._lines + 1, chunk)
        if not self._has_good_line:
            nonblank = (line for line in lines if line and not line.isspace())
            # True if not all lines are damaged; usually the first line is enough to tell.
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
        if saved.version != self._transcript.version:
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
        self._transcript.session = saved.session
        saved.session.is_cut_off = False
        self._transcript.restore(bytes(saved.state), self._file)
        self._offset, self._lines = saved.offset, saved.lines
        self._is_open, self._has_good_line = saved.is_open, saved.has_good_line
        self._file.seek(saved.offset)


def _is_line_end(following: bytes) -> bool:
    return following[:1] in (b"", b"\n") or following in (b"\r", b"\r\n")


def read_at(file: BinaryIO, offset: int, length: int) -> bytes:
    file.seek(offset)
    return file.read(length)


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()
