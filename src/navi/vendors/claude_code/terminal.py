"""Claude Code in a terminal. Its record of open sessions shows whether it is busy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import AgentState, TranscriptReader
from navi.vendors.claude_code.command_line import (
    conversation_argument,
    conversation_of,
    hook_arguments,
    model_arguments,
    tool_arguments,
)
from navi.vendors.claude_code.home import ClaudeCodeHome
from navi.vendors.claude_code.hooks import PANE_HOOKS, SINCE
from navi.vendors.claude_code.open_sessions import session_in_process
from navi.vendors.claude_code.transcript import ClaudeCodeTranscriptReader
from navi.vendors.claude_code.vendor import ClaudeCode
from navi.vendors.installed_version import installed_version, known_events


class ClaudeCodeTerminal(PaneAgent):
    title = ClaudeCode.title
    composer_sign = "❯"
    pause_seconds = 0.5

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self._home = ClaudeCodeHome.of(launch.environment)

    def command(self, request: TurnRequest) -> Sequence[str]:
        return [
            self._launch.command,
            conversation_argument(conversation_of(request), self._home),
            *self._launch.arguments,
            *model_arguments(request.session.model),
            *tool_arguments(self._launch.access),
            *hook_arguments(self._launch, self._hooks()),
        ]

    def _hooks(self) -> Mapping[str, str | None]:
        path = self._launch.environment.get("PATH")
        version = installed_version(self._launch.command, path)
        return {event: PANE_HOOKS[event] for event in known_events(PANE_HOOKS, SINCE, version)}

    def conversation(self, pane: Pane) -> str | None:
        session = session_in_process(self._home, pane.pid)
        return None if session is None else session.agent_session_id

    def state(self, pane: Pane) -> AgentState:
        session = session_in_process(self._home, pane.pid)
        return AgentState.UNKNOWN if session is None else session.state

    def transcript(self, conversation: str) -> Path | None:
        return self._home.transcript(conversation)

    def reader(self) -> TranscriptReader:
        return ClaudeCodeTranscriptReader()
