"""The interface through which the index reads an agent's sessions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar

from navi.base.errors import NaviError
from navi.memory.model import (
    PastMessage,
    PastOutput,
    PastSession,
    PastToolCall,
    PastTurn,
    PastUsage,
    SessionFile,
)


class Rewritten(NaviError):
    """The mark doesn't match the file, which has to be read from its start."""

    kind = "rewritten"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} has been rewritten since it was last read")


@dataclass(slots=True)
class Chunk:
    """The rows from one part of a file.

    A later chunk may contain a fuller version of a row: a message with the same `idx`, or a usage
    row with the same `key`. The later version replaces the earlier one. A call has at most one
    output, possibly in a later chunk. A turn may be repeated in a later chunk, but is always
    identical.
    """

    messages: list[PastMessage] = field(default_factory=list)
    tool_calls: list[PastToolCall] = field(default_factory=list)
    outputs: list[PastOutput] = field(default_factory=list)
    usages: list[PastUsage] = field(default_factory=list)
    has_excerpts: bool = False
    """Whether another machine has already cut `outputs` to excerpts."""
    turns: list[PastTurn] = field(default_factory=list)


class Reading(Iterator[Chunk]):
    """A file being read. Keeps at most one chunk in memory."""

    session: PastSession
    """The session as described by the file from its start up to here, even if reading began at a
    mark."""

    @property
    @abstractmethod
    def mark(self) -> bytes:
        """Where a later reading continues, as JSON that only this source understands."""

    def close(self) -> None:
        """Close any open files. Not needed once the iterator is exhausted."""


class Source(ABC):
    """Finds and reads the sessions of one agent."""

    name: ClassVar[str]
    """The agent's name in the index, e.g. `claude_code`."""
    version: ClassVar[int] = 1
    """Incremented when this class reads files differently; all of them are then read again."""
    has_session_files: ClassVar[bool] = True
    """Whether each session is a file of the agent's own, which can be kept and restored. If not,
    `SessionFile.size` may count something other than bytes."""
    unreadable: Sequence[str] = ()
    """The folders and files that the last `discover` could not read."""

    @abstractmethod
    def discover(self) -> Iterator[SessionFile]:
        """All session files, without opening them."""

    @abstractmethod
    def read(self, file: SessionFile, mark: bytes | None = None) -> Reading:
        """Read from `mark`, or else from the start. Raises `Rewritten` if it doesn't match."""

    @abstractmethod
    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        """The command that resumes the session when run in `cwd`; None if there is none."""

    def session_id(self, path: str) -> str | None:
        """Navi's id for the file's session; None, as usual, to derive it from the path."""
        return None

    def folders(self) -> list[str]:
        """The folders to watch for changes. They need not exist."""
        return []

    def covers(self, path: str) -> bool:
        """Whether `discover` would yield this file if it still existed."""
        return True

    def location(self, path: str) -> str:
        """Where the content of this file is now, if the agent has moved it."""
        return path

    def parent_path(self, path: str) -> str | None:
        """The parent's session file, if `path` shows that the file belongs to a sub-agent."""
        return None

    def deletes_after(self) -> timedelta | None:
        """How long after a file's last change the agent deletes it; None if it never does."""
        return None

    def stamp(self) -> str | None:
        """A value that changes whenever `discover` would yield something else.

        None if there is no quicker check than `discover` itself.
        """
        return None
