"""Codex's command line. Without a terminal, each turn is one run of it.

`codex app-server` runs the turns that may ask a person. `codex exec` never asks: it denies every
call that needs permission, and reports that only after the turn. So it runs only turns in which all
such calls would be denied anyway (the policy `deny`; `allow-listed` has to check each call), and
turns whose arguments forbid questions or don't exist in the app-server.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from navi.base.errors import OpenElsewhere
from navi.live.agents.command_line.agent_environment import Launch, ServerAccess
from navi.live.agents.command_line.command_line_driver import CommandLine, CommandLineDriver, Reader
from navi.live.agents.command_line.run_questions import QuestionProtocol
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.transcript_tail import AgentState, TranscriptReader
from navi.vendors.codex.app_server.arguments import app_server_arguments
from navi.vendors.codex.app_server.questions import CodexQuestions
from navi.vendors.codex.app_server.requests import ASK_FEATURE, first_lines
from navi.vendors.codex.app_server.stream import AppServerReader
from navi.vendors.codex.ending import last_turn
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.open_threads import agent_state, is_open
from navi.vendors.codex.stream import CodexReader
from navi.vendors.codex.transcript import CodexTranscriptReader
from navi.vendors.codex.vendor import Codex


class CodexDriver(CommandLineDriver):
    title = Codex.title

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self._home = CodexHome.of(launch.environment)

    def _command_line(self, request: TurnRequest) -> CommandLine:
        thread = request.conversation
        if thread is not None and is_open(self._home, thread):
            raise OpenElsewhere(self.title, "in a terminal", thread)
        server_arguments = app_server_arguments(self._launch.arguments) if request.may_ask else None
        if server_arguments is not None:
            return self._app_server(request, server_arguments, thread)
        arguments = [
            "exec",
            "--json",
            "--skip-git-repo-check",  # a session's folder need not be a repository
            *self._launch.arguments,
            *model_arguments(request.session.model),
            *tool_arguments(self._launch.access, self._home),
            # After the other options: `resume` refuses some of them, such as `--sandbox`.
            *(["resume", thread] if thread is not None else []),
        ]
        return CommandLine([*arguments, "-"], request.prompt)

    def _app_server(
        self, request: TurnRequest, server_arguments: Sequence[str], thread: str | None
    ) -> CommandLine:
        tools = tool_arguments(self._launch.access, self._home)
        first = first_lines(thread, request.context.cwd, request.session.model)
        return CommandLine(
            ["app-server", *server_arguments, ASK_FEATURE, *tools], first, may_ask=True
        )

    def _command_line_to_resume(
        self, request: TurnRequest, protocol: QuestionProtocol
    ) -> CommandLine | None:
        assert isinstance(protocol, CodexQuestions)
        server_arguments = app_server_arguments(self._launch.arguments)
        if protocol.thread is None or server_arguments is None:
            return None
        if is_open(self._home, protocol.thread):
            raise OpenElsewhere(self.title, "in a terminal", protocol.thread)
        return self._app_server(request, server_arguments, protocol.thread)

    def _question_protocol(self, request: TurnRequest) -> QuestionProtocol:
        return CodexQuestions(
            request.prompt, request.conversation, request.context.cwd, request.session.model
        )

    def _reader(self, request: TurnRequest, may_ask: bool) -> Reader:
        turn = partial(last_turn, self._home)
        if may_ask:
            return AppServerReader(request.usage_before, request.conversation, turn)
        return CodexReader(request.usage_before, turn)

    def conversation_of(self, request: TurnRequest) -> str | None:
        return request.conversation

    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        return is_open(self._home, agent_session_id)

    def _transcript(self, agent_session_id: str) -> Path | None:
        return self._home.rollout(agent_session_id)

    def _state(self, agent_session_id: str) -> AgentState:
        # The rollout of a terminal that was closed during a turn never shows the turn's end.
        if not is_open(self._home, agent_session_id):
            return AgentState.UNKNOWN
        return agent_state(self._home, agent_session_id)

    def _transcript_reader(self) -> TranscriptReader:
        return CodexTranscriptReader(begins_with_hook_answer=True)


def model_arguments(model: str | None) -> list[str]:
    return [f"--model={model}"] if model else []


def tool_arguments(access: ServerAccess | None, home: CodexHome) -> list[str]:
    """The arguments that connect Codex to this server's tools.

    The token is in Codex's environment, not on the command line.

    If `navi setup` has defined Navi's MCP server, defining it again would be an error. Codex then
    starts the server that is defined, which inherits only the environment variables named here.
    """
    if access is None:
        return []
    settings: dict[str, object] = {"default_tools_approval_mode": "approve"}
    if home.has_server("navi"):
        settings |= {
            "env.NAVI_URL": access.address,
            "env_vars": ["NAVI_TOKEN", "NAVI_SESSION_ID"],
        }
    else:
        settings |= {
            "url": f"{access.address}/mcp",
            "bearer_token_env_var": "NAVI_TOKEN",
            "env_http_headers.Navi-Session": "NAVI_SESSION_ID",
        }
    return [
        f"--config=mcp_servers.navi.{key}={json.dumps(value)}" for key, value in settings.items()
    ]
