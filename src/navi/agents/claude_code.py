"""Claude Code without a terminal: each turn is one run of `claude -p` on the same session."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from navi.agents.claude_code_files import ClaudeCodeFiles
from navi.agents.claude_code_lines import CLIENT, ClaudeCodeReader
from navi.agents.claude_code_transcript import ClaudeCodeTranscriptReader
from navi.base.errors import OpenElsewhere
from navi.live.agents.command_line.agent_environment import Reach
from navi.live.agents.command_line.command_line_driver import HeadlessDriver, Order, Reader
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.transcript_tail import Mood, TranscriptReader
from navi.vendors.agent_commands import hook_command

FORMATS = (
    "--input-format=stream-json",
    "--output-format=stream-json",
    "--verbose",
    "--include-partial-messages",
)
# With "shell" it is idle, and a command of its own runs on in the background.
MOODS = {"idle": Mood.IDLE, "shell": Mood.IDLE, "busy": Mood.BUSY, "waiting": Mood.ASKING}
NUDGE_HOOKS: Mapping[str, str | None] = {"PostToolUse": None}
"""Where a nudge reaches an agent that works."""
OURS = uuid.UUID("5b0f6f2c-0f0e-4a39-9d9f-6b7d0c0e6e61")
"""Names made under it are the same whenever they are made."""


class ClaudeCodeDriver(HeadlessDriver):
    client = CLIENT

    def _order(self, request: TurnRequest, environment: Mapping[str, str]) -> Order:
        files = ClaudeCodeFiles.of(environment)
        agent_session_id = conversation_of(request)
        # Two writers would fork the conversation, and Claude Code would not say so.
        if (holder := files.holder(agent_session_id)) is not None:
            raise OpenElsewhere(CLIENT, f"process {holder.pid}", agent_session_id)
        is_known = files.transcript(agent_session_id) is not None
        arguments = [
            "-p",
            *FORMATS,
            f"--{'resume' if is_known else 'session-id'}={agent_session_id}",
            *self._arguments,
        ]
        if request.session.model:
            arguments.append(f"--model={request.session.model}")
        arguments += tool_arguments(self._reach)
        arguments += hook_arguments(self._reach, self._arguments, NUDGE_HOOKS)
        return Order(arguments, message_line(request))

    def _reader(self, request: TurnRequest) -> Reader:
        return ClaudeCodeReader()

    def conversation_of(self, request: TurnRequest) -> str | None:
        return conversation_of(request)

    def is_open_elsewhere(self, agent_session_id: str) -> bool:
        return ClaudeCodeFiles.of(self._environment).holder(agent_session_id) is not None

    def _transcript(self, agent_session_id: str) -> Path | None:
        return ClaudeCodeFiles.of(self._environment).transcript(agent_session_id)

    def _mood(self, agent_session_id: str) -> Mood:
        holder = ClaudeCodeFiles.of(self._environment).holder(agent_session_id)
        return Mood.UNKNOWN if holder is None else MOODS.get(holder.status, Mood.UNKNOWN)

    def _transcript_reader(self) -> TranscriptReader:
        return ClaudeCodeTranscriptReader(is_handed_over=True)


def tool_arguments(reach: Reach | None) -> list[str]:
    """Navi's tools, from this server itself: nothing to install, and no process more."""
    if reach is None:
        return []
    # Claude Code puts the values in from its environment: no token on the command line.
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


def hook_arguments(
    reach: Reach | None, arguments: Sequence[str], events: Mapping[str, str | None]
) -> list[str]:
    """Navi's hook at these events, each perhaps with a matcher."""
    # Claude Code takes settings once, and those of the person come first.
    if reach is None or any(each.startswith("--settings") for each in arguments):
        return []
    hook = {"type": "command", "command": hook_command("claude_code", reach.address)}
    hooks = {
        event: [{"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}]
        for event, matcher in events.items()
    }
    return [f"--settings={json.dumps({'hooks': hooks})}"]


def conversation_of(request: TurnRequest) -> str:
    """Ours to choose, so it is made from the session: the same one even if nobody noted it."""
    if request.conversation is not None:
        return request.conversation
    session = request.session
    return str(uuid.uuid5(OURS, f"{session.id}/{session.context_from_idx}"))


def message_line(request: TurnRequest) -> str:
    """Claude Code does not take a message with the same `uuid` twice."""
    message = {
        "type": "user",
        "uuid": str(uuid.uuid5(OURS, request.turn_id)),
        "message": {"role": "user", "content": request.prompt},
    }
    return json.dumps(message) + "\n"
