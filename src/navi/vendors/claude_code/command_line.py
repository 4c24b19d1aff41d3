"""Claude Code's command line. Without a terminal, each turn is one run of `claude -p`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from navi.base.errors import NaviError, OpenElsewhere
from navi.live.agents.command_line.agent_environment import Launch, ServerAccess
from navi.live.agents.command_line.command_line_driver import CommandLine, CommandLineDriver, Reader
from navi.live.agents.command_line.run_questions import QuestionProtocol
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.transcript_tail import AgentState, TranscriptReader
from navi.vendors.agent_commands import hook_command
from navi.vendors.claude_code.home import ClaudeCodeHome
from navi.vendors.claude_code.hooks import RUN_HOOKS, TIMEOUT_SECONDS
from navi.vendors.claude_code.open_sessions import holder_of
from navi.vendors.claude_code.questions import (
    ARGUMENT,
    OWN_ARGUMENTS,
    RESUME,
    ClaudeCodeQuestions,
)
from navi.vendors.claude_code.stream import ClaudeCodeReader
from navi.vendors.claude_code.transcript import ClaudeCodeTranscriptReader, last_failure
from navi.vendors.claude_code.vendor import ClaudeCode

FORMATS = (
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
)
NAMESPACE = uuid.UUID("5b0f6f2c-0f0e-4a39-9d9f-6b7d0c0e6e61")
"""For deriving ids of conversations and messages, so that a retry uses the same ones."""


class ClaudeCodeDriver(CommandLineDriver):
    title = ClaudeCode.title

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self._home = ClaudeCodeHome.of(launch.environment)

    def _command_line(self, request: TurnRequest) -> CommandLine:
        agent_session_id = conversation_of(request)
        # Two writers would fork the conversation, and Claude Code would not warn about it.
        if (holder := holder_of(self._home, agent_session_id)) is not None:
            raise OpenElsewhere(self.title, f"process {holder.pid}", agent_session_id)
        may_ask = not any(each.startswith(OWN_ARGUMENTS) for each in self._launch.arguments)
        arguments = [
            "-p",
            *FORMATS,
            *([ARGUMENT] if may_ask else []),
            conversation_argument(agent_session_id, self._home),
            *self._launch.arguments,
            *model_arguments(request.session.model),
            *tool_arguments(self._launch.access),
            *hook_arguments(self._launch, RUN_HOOKS),
        ]
        return CommandLine(arguments, message_line(request), may_ask)

    def _command_line_to_resume(
        self, request: TurnRequest, protocol: QuestionProtocol
    ) -> CommandLine | None:
        if self._home.transcript(conversation_of(request)) is None:
            return None
        command_line = self._command_line(request)
        if not command_line.may_ask:
            return None
        return replace(command_line, input="", variables=RESUME)

    def _question_protocol(self, request: TurnRequest) -> QuestionProtocol:
        return ClaudeCodeQuestions()

    def _reader(self, request: TurnRequest, may_ask: bool) -> Reader:
        return ClaudeCodeReader()

    def conversation_of(self, request: TurnRequest) -> str | None:
        return conversation_of(request)

    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        return holder_of(self._home, agent_session_id) is not None

    def last_failure(self, agent_session_id: str) -> NaviError | None:
        transcript = self._home.transcript(agent_session_id)
        return None if transcript is None else last_failure(transcript)

    def _transcript(self, agent_session_id: str) -> Path | None:
        return self._home.transcript(agent_session_id)

    def _state(self, agent_session_id: str) -> AgentState:
        holder = holder_of(self._home, agent_session_id)
        return AgentState.UNKNOWN if holder is None else holder.state

    def _transcript_reader(self) -> TranscriptReader:
        return ClaudeCodeTranscriptReader(begins_with_hook_answer=True)


def model_arguments(model: str | None) -> list[str]:
    return [f"--model={model}"] if model else []


def conversation_argument(agent_session_id: str, home: ClaudeCodeHome) -> str:
    is_new = home.transcript(agent_session_id) is None
    return f"--{'session-id' if is_new else 'resume'}={agent_session_id}"


def tool_arguments(access: ServerAccess | None) -> list[str]:
    """The arguments that connect Claude Code to this server's tools, directly over HTTP."""
    if access is None:
        return []
    # Claude Code expands the variables, so the token is not on the command line.
    server = {
        "type": "http",
        "url": "${NAVI_URL}/mcp",
        "headers": {
            "Authorization": "Bearer ${NAVI_TOKEN}",
            "Navi-Session": "${NAVI_SESSION_ID}",
        },
    }
    config = json.dumps({"mcpServers": {"navi": server}})
    return [f"--mcp-config={config}", "--allowedTools=mcp__navi"]


def hook_arguments(launch: Launch, events: Mapping[str, str | None]) -> list[str]:
    """The arguments that add Navi's hook to `events`, which maps each event to its matcher."""
    # Claude Code accepts `--settings` only once, and a person's own takes precedence.
    if launch.access is None or any(
        argument.startswith("--settings") for argument in launch.arguments
    ):
        return []
    command = hook_command(ClaudeCode.name, launch.access.address)
    hooks = {event: [_hook_group(event, matcher, command)] for event, matcher in events.items()}
    return [f"--settings={json.dumps({'hooks': hooks})}"]


def _hook_group(event: str, matcher: str | None, command: str) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": command}
    if event in TIMEOUT_SECONDS:
        hook["timeout"] = TIMEOUT_SECONDS[event]
    return {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}


def conversation_of(request: TurnRequest) -> str:
    """Claude Code's session id: the one an earlier turn stored, or one derived from our session.

    The derived id differs after each `clear`.
    """
    if request.conversation is not None:
        return request.conversation
    session = request.session
    return str(uuid.uuid5(NAMESPACE, f"{session.id}/{session.context_from_idx}"))


def message_line(request: TurnRequest) -> str:
    """The prompt as a line of input. Claude Code ignores a second message with the same `uuid`."""
    message = {
        "type": "user",
        "uuid": str(uuid.uuid5(NAMESPACE, request.turn_id)),
        "message": {"role": "user", "content": request.prompt},
    }
    return json.dumps(message) + "\n"
