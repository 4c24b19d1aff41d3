"""What the tmux driver needs to know of the agent in a pane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import ClassVar, Protocol

from navi.agents.driver import TurnRequest
from navi.agents.headless import Told
from navi.agents.tmux import Pane


class Mood(Enum):
    """Where the agent is, by its own files."""

    IDLE = "idle"
    BUSY = "busy"
    ASKING = "asking"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Place:
    """Up to where its transcript was read."""

    path: Path | None
    offset: int


class PaneReader(Protocol):
    """The transcript of one turn, line by line."""

    has_ended: bool
    """Its lines say that the turn is over."""
    has_begun: bool
    """Its lines say that the prompt arrived."""

    def read(self, line: bytes) -> Iterator[Told]: ...

    def judge(self) -> None:
        """Raise `AgentFailed` unless the turn went well."""


class PaneAgent(Protocol):
    client: ClassVar[str]
    mark: ClassVar[str]
    """What stands before the line that a person types."""
    pause_seconds: ClassVar[float]
    """Between a paste and its Enter."""

    def command(self, request: TurnRequest, environment: Mapping[str, str]) -> Sequence[str]: ...

    def conversation(self, pane: Pane) -> str | None:
        """The agent's own name for what it has open in the pane; None until it is known."""

    def mood(self, pane: Pane) -> Mood: ...

    def transcript(self, conversation: str) -> Path | None: ...

    def reader(self, request: TurnRequest) -> PaneReader: ...
