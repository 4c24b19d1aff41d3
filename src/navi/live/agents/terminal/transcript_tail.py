"""Follows an agent's own transcript while it works in a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol

from navi.live.agents.driver import DriverEvent
from navi.live.model.event import Asking

POLL_SECONDS = 0.1
QUIET_SECONDS = 1.0
"""Some agents don't record the end of a turn. It is over when they have been idle for this long."""
OVERDUE_SECONDS = 15.0
"""How long a prompt may take to appear in the transcript."""


class AgentState(Enum):
    """What the agent is doing, according to its own files."""

    IDLE = "idle"
    BUSY = "busy"
    ASKING = "asking"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TranscriptPosition:
    """Where a turn begins in the transcript; `path` is None if there was no transcript yet.

    For a program that is not an agent, `offset` is a line number in its output.
    """

    path: Path | None
    offset: int

    def save(self, file: Path) -> None:
        file.write_text(f"{self.offset}\n{self.path or ''}")

    @classmethod
    def load(cls, file: Path) -> TranscriptPosition:
        try:
            offset, path = file.read_text().split("\n", 1)
        except (OSError, ValueError):
            return cls(None, 0)
        return cls(Path(path) if path else None, int(offset))

    @classmethod
    def end_of(cls, path: Path | None) -> TranscriptPosition:
        return cls(path, 0 if path is None else path.stat().st_size)


class TranscriptReader(Protocol):
    """Reads the transcript of one turn, line by line."""

    has_begun: bool
    """Whether the lines so far include the prompt."""
    has_ended: bool
    """Whether the lines so far show the end of the turn."""

    def read(self, line: bytes) -> Iterator[DriverEvent]: ...

    def raise_failure(self) -> None:
        """Raise the turn's error, if it had one."""


class TranscriptTail:
    """The lines of one turn, which begins at `start`.

    `find_path` finds the transcript if there was none when the turn began.
    """

    def __init__(
        self,
        reader: TranscriptReader,
        start: TranscriptPosition,
        find_path: Callable[[], Path | None],
    ) -> None:
        self.reader = reader
        self._path = start.path
        self._offset = start.offset
        self._find_path = find_path
        self._partial_line = b""

    def new_lines(self) -> list[bytes] | None:
        """The complete lines written since the last call; None if nothing was written."""
        self._path = self._path or self._find_path()
        data = b"" if self._path is None else _read(self._path, self._offset)
        self._offset += len(data)
        *lines, self._partial_line = (self._partial_line + data).split(b"\n")
        return lines if data else None

    def catch_up(self) -> None:
        """Update the reader's `has_begun` and `has_ended`, without reporting events."""
        for line in self.new_lines() or ():
            for _ in self.reader.read(line):
                pass


async def follow(
    tail: TranscriptTail,
    agent_state: Callable[[], AgentState],
    check_agent: Callable[[bool], Awaitable[None]],
    is_over: Callable[[], bool] = lambda: False,
) -> AsyncIterator[DriverEvent]:
    """The turn's events, until the transcript, an idle agent or `is_over` shows that it has ended.

    `check_agent` is called while the agent writes nothing and is neither busy nor asking. Its
    argument says whether the prompt is overdue. It raises if there is nothing left to wait for.
    """
    reader = tail.reader
    overdue_at = _now() + OVERDUE_SECONDS
    quiet_seconds = 0.0
    is_asking = False
    while not reader.has_ended:
        state = await asyncio.to_thread(agent_state)
        if is_asking != (state is AgentState.ASKING):
            is_asking = not is_asking
            yield Asking(is_asking)
        lines = await asyncio.to_thread(tail.new_lines)
        for line in lines or ():
            for event in reader.read(line):
                yield event
        if lines is not None:
            quiet_seconds = 0.0
            continue
        # Wait a little: the last lines may not be in the transcript yet.
        is_at_rest = reader.has_begun and (state is AgentState.IDLE or is_over())
        quiet_seconds = quiet_seconds + POLL_SECONDS if is_at_rest else 0.0
        if quiet_seconds > QUIET_SECONDS:
            break
        if state in (AgentState.IDLE, AgentState.UNKNOWN):
            is_overdue = not reader.has_begun and _now() > overdue_at
            await check_agent(is_overdue)
            if is_overdue:
                overdue_at = _now() + OVERDUE_SECONDS
        await asyncio.sleep(POLL_SECONDS)
    reader.raise_failure()


def _read(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as transcript:
            transcript.seek(offset)
            return transcript.read()
    except FileNotFoundError:
        return b""


def _now() -> float:
    return asyncio.get_running_loop().time()
