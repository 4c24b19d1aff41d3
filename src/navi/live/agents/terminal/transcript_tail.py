"""What an agent says, read from its own transcript while it works in a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from navi.live.agents.driver import Told
from navi.live.model.event import Asking

LOOK_SECONDS = 0.1
QUIET_SECONDS = 1.0
"""Some versions of agents don't write down that a turn is over; then so long an idleness does."""
ARRIVAL_SECONDS = 15.0


class Mood(Enum):
    """Where the agent is, by its own files."""

    IDLE = "idle"
    BUSY = "busy"
    ASKING = "asking"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Place:
    """Up to where a transcript was read; `path` is None as long as there is none."""

    path: Path | None
    offset: int

    def write(self, note: Path) -> None:
        note.write_text(f"{self.offset}\n{self.path or ''}")

    @classmethod
    def noted(cls, note: Path) -> Place:
        try:
            offset, path = note.read_text().split("\n", 1)
        except (OSError, ValueError):
            return cls(None, 0)
        return cls(Path(path) if path else None, int(offset))

    @classmethod
    def end_of(cls, path: Path | None) -> Place:
        return cls(path, 0 if path is None else path.stat().st_size)


class TranscriptReader(Protocol):
    """The transcript of one turn, line by line."""

    has_begun: bool
    """Its lines say that the prompt arrived."""
    has_ended: bool
    """Its lines say that the turn is over."""

    def read(self, line: bytes) -> Iterator[Told]: ...

    def judge(self) -> None:
        """Raise what `Driver.turn` raises unless the turn went well."""


class Record:
    """What the transcript says of one turn, from its beginning at `place` on.

    `find` says where the transcript is, if there was none when the turn began.
    """

    def __init__(
        self, reader: TranscriptReader, place: Place, find: Callable[[], Path | None]
    ) -> None:
        self.reader = reader
        self._path = place.path
        self._offset = place.offset
        self._find = find
        self._rest = b""

    def new_lines(self) -> list[bytes] | None:
        """The whole lines written since the last call; None if nothing was written."""
        self._path = self._path or self._find()
        data = b"" if self._path is None else _read(self._path, self._offset)
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        return lines if data else None

    def catch_up(self) -> None:
        """Read what is new for `has_begun` and `has_ended` alone."""
        for line in self.new_lines() or ():
            for _ in self.reader.read(line):
                pass


async def follow(
    record: Record,
    mood_of: Callable[[], Mood],
    when_lost: Callable[[bool], Awaitable[None]],
    is_over: Callable[[], bool] = lambda: False,
) -> AsyncIterator[Told]:
    """Until the turn is over, by the agent's own words or by `is_over`.

    `when_lost` is called while nothing happens though nobody is busy, with whether the prompt is
    overdue. It raises if there is nothing to wait for any more.
    """
    reader = record.reader
    overdue_at = _now() + ARRIVAL_SECONDS
    quiet = 0.0
    is_asking = False
    while not reader.has_ended:
        mood = await asyncio.to_thread(mood_of)
        if is_asking != (mood is Mood.ASKING):
            is_asking = not is_asking
            yield Asking(is_asking)
        lines = await asyncio.to_thread(record.new_lines)
        for line in lines or ():
            for told in reader.read(line):
                yield told
        if lines is not None:
            quiet = 0.0
            continue
        # Not at once: the last words may still be on their way to the transcript.
        is_at_rest = reader.has_begun and (mood is Mood.IDLE or is_over())
        quiet = quiet + LOOK_SECONDS if is_at_rest else 0.0
        if quiet > QUIET_SECONDS:
            break
        if mood in (Mood.IDLE, Mood.UNKNOWN):
            is_overdue = not reader.has_begun and _now() > overdue_at
            await when_lost(is_overdue)
            if is_overdue:
                overdue_at = _now() + ARRIVAL_SECONDS
        await asyncio.sleep(LOOK_SECONDS)
    reader.judge()


def _read(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as transcript:
            transcript.seek(offset)
            return transcript.read()
    except FileNotFoundError:
        return b""


def _now() -> float:
    return asyncio.get_running_loop().time()
