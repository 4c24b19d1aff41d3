"""What the tmux driver needs to know of the agent in a pane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import Mood, TranscriptReader


class PaneAgent(Protocol):
    client: ClassVar[str]
    mark: ClassVar[str]
    """What stands before the line that a person types."""
    pause_seconds: ClassVar[float]
    """Between a paste and its Enter."""
    environment: Mapping[str, str]
    """What it may see."""

    def command(self, request: TurnRequest, environment: Mapping[str, str]) -> Sequence[str]: ...

    def conversation(self, pane: Pane) -> str | None:
        """The agent's own name for what it has open in the pane; None until it is known."""

    def mood(self, pane: Pane) -> Mood: ...

    def transcript(self, conversation: str) -> Path | None: ...

    def reader(self, request: TurnRequest) -> TranscriptReader: ...
