"""What a source offers to the index."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from navi.base.errors import NaviError
from navi.memory.model import FoundFile, PastMessage, PastSession, PastToolCall, PastUsage


class Rewritten(NaviError):
    """The file is no longer the one the mark was made in: it has to be read from its start."""

    kind = "rewritten"

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} changed before the place where reading had stopped")


@dataclass(slots=True)
class Chunk:
    """The rows of one stretch of a file.

    A row may come again in a later chunk with more in it: a message under the same `idx`, a usage
    under the same `key`. The later one replaces the earlier.
    """

    messages: list[PastMessage] = field(default_factory=list)
    tool_calls: list[PastToolCall] = field(default_factory=list)
    usages: list[PastUsage] = field(default_factory=list)


class Reading(Iterator[Chunk]):
    """A file being read. Holds no more of it in memory than one chunk."""

    session: PastSession
    """Of the whole file up to here, also when the reading began at a mark."""

    @property
    @abstractmethod
    def mark(self) -> bytes:
        """Where a later reading of the grown file goes on. JSON, and nobody else's business."""

    def close(self) -> None:
        """Release what is open. A reading that came to its end has done so itself."""


class Source(ABC):
    """Where one agent's sessions are, and how to read them."""

    name: ClassVar[str]
    """As the tables write it: `claude_code`."""
    version: ClassVar[int] = 1
    """Raised when the same files are read differently: they are then all read anew, once."""
    keeps_files: ClassVar[bool] = True
    """Whether each session is a file, and sizes are bytes."""
    unreadable: Sequence[str] = ()
    """The folders and files that the last `discover` could not look at."""

    @abstractmethod
    def discover(self) -> Iterator[FoundFile]:
        """Every session's file there is now, without opening any."""

    @abstractmethod
    def read(self, file: FoundFile, mark: bytes | None = None) -> Reading:
        """From the start, or what came after the mark; `Rewritten` if the mark no longer fits."""

    @abstractmethod
    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        """What resumes the session, run in `cwd`; None if nothing can."""

    def folders(self) -> list[str]:
        """What to watch to hear of changes. They need not exist."""
        return []

    def covers(self, path: str) -> bool:
        """Whether `discover` would yield this file if it still existed."""
        return True

    def stamp(self) -> str | None:
        """As long as it stays the same `discover` yields the same; None if that takes a look."""
        return None
