"""The interface between the tmux driver and the agent in a pane."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import AgentState, TranscriptReader


class PaneAgent(ABC):
    title: ClassVar[str]
    """The agent's name for people."""
    composer_sign: ClassVar[str]
    """The character with which its composer, the field for prompts, begins."""
    pause_seconds: ClassVar[float]
    """The pause that the agent needs between a paste and the Enter that submits it."""

    def __init__(self, launch: Launch) -> None:
        self._launch = launch

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that the agent may see."""
        return self._launch.environment

    @abstractmethod
    def command(self, request: TurnRequest) -> Sequence[str]:
        """The command line that opens the session's conversation in a terminal. May read files."""

    @abstractmethod
    def conversation(self, pane: Pane) -> str | None:
        """The agent's own id for the conversation in the pane; None until it has one."""

    @abstractmethod
    def state(self, pane: Pane) -> AgentState: ...

    @abstractmethod
    def transcript(self, conversation: str) -> Path | None: ...

    async def ask(self, request: TurnRequest, pane: Pane, conversation: str) -> None:  # noqa: B027
        """Pass the questions of the agent's dialogs to a person, until cancelled.

        Returns at once if they can be answered only in the pane, or if the agent asks in another
        way.
        """

    @abstractmethod
    def reader(self) -> TranscriptReader: ...
