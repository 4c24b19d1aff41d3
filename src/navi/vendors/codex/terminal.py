"""Codex in a terminal. The lock that it holds tells which thread is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import AgentState, TranscriptReader
from navi.vendors.codex.command_line import model_arguments, tool_arguments
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.open_threads import agent_state, thread_in_process
from navi.vendors.codex.transcript import CodexTranscriptReader
from navi.vendors.codex.vendor import Codex


class CodexTerminal(PaneAgent):
    title = Codex.title
    mark = "›"
    pause_seconds = 0.8

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self._home = CodexHome.of(launch.environment)

    def command(self, request: TurnRequest) -> Sequence[str]:
        thread = request.conversation
        resume = ["resume", thread] if thread is not None else []
        return [
            self._launch.command,
            *resume,
            "--no-daemon",
            *self._launch.arguments,
            *model_arguments(request.session.model),
            *tool_arguments(self._launch.access, self._home),
        ]

    def conversation(self, pane: Pane) -> str | None:
        return thread_in_process(self._home, pane.pid)

    def state(self, pane: Pane) -> AgentState:
        thread = thread_in_process(self._home, pane.pid)
        return (
            AgentState.UNKNOWN if thread is None else agent_state(self._home, thread, pane.started)
        )

    def transcript(self, conversation: str) -> Path | None:
        return self._home.rollout(conversation)

    def reader(self) -> TranscriptReader:
        return CodexTranscriptReader()
