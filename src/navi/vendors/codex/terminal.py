"""Codex in a terminal. The lock that it holds shows which thread is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from navi.live.agents.command_line.agent_environment import Launch
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import AgentState, TranscriptReader
from navi.vendors.codex.app_server.arguments import app_server_arguments
from navi.vendors.codex.app_server.requests import ASK_FEATURE
from navi.vendors.codex.app_server.shared_server import (
    ask_in_pane,
    first_thread,
    server_pid,
    shared_command,
    shared_folder,
)
from navi.vendors.codex.command_line import model_arguments, tool_arguments
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.open_threads import agent_state, thread_in_process
from navi.vendors.codex.transcript import CodexTranscriptReader
from navi.vendors.codex.vendor import Codex
from navi.vendors.installed_version import installed_version

NO_QUESTION_AT_LIMITS = "--config=notice.hide_rate_limit_model_nudge=true"
"""At a usage limit, Codex would ask whether to use another model, and take the next prompt's Enter
for a yes."""


SHARED_SERVERS_SINCE = (0, 166, 0)
"""The first version with which shared servers were tested."""


class CodexTerminal(PaneAgent):
    title = Codex.title
    composer_sign = "›"
    pause_seconds = 0.8

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self._home = CodexHome.of(launch.environment)

    def command(self, request: TurnRequest) -> Sequence[str]:
        thread, command = request.conversation, self._launch.command
        resume = ["resume", thread] if thread is not None else []
        model = model_arguments(request.session.model)
        tools = tool_arguments(self._launch.access, self._home)
        server_arguments, folder = app_server_arguments(self._launch.arguments), shared_folder()
        if server_arguments is None or folder is None or not self._supports_shared_servers():
            options = ["--no-daemon", NO_QUESTION_AT_LIMITS, *self._launch.arguments]
            return [command, *resume, *options, *model, *tools]
        # With a shared server, a resumed thread keeps its permissions.
        rights = self._launch.arguments if thread is None else ()
        terminal = [command, *resume, NO_QUESTION_AT_LIMITS, *rights, *model]
        server = [command, "app-server", *server_arguments, ASK_FEATURE, *tools]
        return shared_command(folder, server, terminal)

    def _supports_shared_servers(self) -> bool:
        version = installed_version(self._launch.command, self._launch.environment.get("PATH"))
        return version is not None and version >= SHARED_SERVERS_SINCE

    def conversation(self, pane: Pane) -> str | None:
        if (server := server_pid(pane.pid)) is None:
            return thread_in_process(self._home, pane.pid)
        # The server locks a new thread only when its first turn begins.
        return thread_in_process(self._home, server) or first_thread(pane.pid)

    def state(self, pane: Pane) -> AgentState:
        thread = self.conversation(pane)
        return (
            AgentState.UNKNOWN if thread is None else agent_state(self._home, thread, pane.started)
        )

    async def ask(self, request: TurnRequest, pane: Pane, conversation: str) -> None:
        if server_pid(pane.pid) is not None:
            await ask_in_pane(request, pane.pid, conversation)

    def transcript(self, conversation: str) -> Path | None:
        return self._home.rollout(conversation)

    def reader(self) -> TranscriptReader:
        return CodexTranscriptReader()
