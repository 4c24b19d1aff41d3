"""What the tmux driver needs to know about the agent in a pane."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import Mood, TranscriptReader


class PaneAgent(ABC):
    client: ClassVar[str]
    """What people call it."""
    mark: ClassVar[str]
    """What stands before the line that a person types."""
    pause_seconds: ClassVar[float]
    """Between a paste and its Enter."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    @property
    def environment(self) -> Mapping[str, str]:
        """What it may see."""
        return self._launch.environment

    @abstractmethod
    def command(self, request: TurnRequest) -> Sequence[str]:
        """The command line that opens the session's conversation in a terminal."""

    @abstractmethod
    def conversation(self, pane: Pane) -> str | None:
        """The agent's own name for what it has open in the pane; None until it has a name."""

    @abstractmethod
    def mood(self, pane: Pane) -> Mood: ...

    @abstractmethod
    def transcript(self, conversation: str) -> Path | None: ...

    @abstractmethod
    def reader(self) -> TranscriptReader: ...
