"""The port through which the index reads an agent's sessions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from navi.base.errors import NaviError
from navi.memory.model import FoundFile, PastMessage, PastSession, PastToolCall, PastUsage


class Rewritten(NaviError):
    """The file was rewritten since the mark was made, and has to be read from its start."""

    kind = "rewritten"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was rewritten since it was last read")


@dataclass(slots=True)
class Chunk:
    """The rows from one part of a file.

    A later chunk may have a fuller version of a row: a message with the same `idx`, a usage with
    the same `key`. It replaces the earlier one.
    """

    messages: list[PastMessage] = field(default_factory=list)
    tool_calls: list[PastToolCall] = field(default_factory=list)
    usages: list[PastUsage] = field(default_factory=list)


class Reading(Iterator[Chunk]):
    """A file being read. Keeps at most one chunk in memory."""

    session: PastSession
    """The session according to the whole file up to here, even if the reading began at a mark."""

    @property
    @abstractmethod
    def mark(self) -> bytes:
        """Where a later reading continues. JSON that only the source understands."""

    def close(self) -> None:
        """Close what is open. A reading that has reached its end has done so already."""


class Source(ABC):
    """Finds and reads the sessions of one agent."""

    name: ClassVar[str]
    """Its name in the index: `claude_code`."""
    version: ClassVar[int] = 1
    """Increased when files are read differently; all of them are then read again."""
    keeps_files: ClassVar[bool] = True
    """Whether each session is a file, and sizes are bytes."""
    unreadable: Sequence[str] = ()
    """The folders and files that the last `discover` could not read."""

    @abstractmethod
    def discover(self) -> Iterator[FoundFile]:
        """All session files, without opening them."""

    @abstractmethod
    def read(self, file: FoundFile, mark: bytes | None = None) -> Reading:
        """Read from the start or from the mark. Raises `Rewritten` if the mark no longer fits."""

    @abstractmethod
    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        """The command that resumes the session, to run in `cwd`; None if there is none."""

    def folders(self) -> list[str]:
        """The folders to watch for changes. They need not exist."""
        return []

    def covers(self, path: str) -> bool:
        """Whether `discover` would yield this file if it still existed."""
        return True

    def stamp(self) -> str | None:
        """Unchanged while `discover` would yield the same; None if only `discover` can tell."""
        return None
