"""Claude Code in a pane. Its registry says where it is, its transcript what it says."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from navi.agents.claude_code import conversation_of, tool_arguments
from navi.agents.claude_code_files import ClaudeCodeFiles, OpenSession
from navi.agents.claude_code_lines import CLIENT, ClaudeCodeReader
from navi.agents.client_environment import Reach
from navi.agents.driver import TurnRequest
from navi.agents.headless import Told
from navi.agents.pane_agent import Mood, PaneReader
from navi.agents.tmux import Pane
from navi.domain.errors import AgentFailed

MOODS = {"idle": Mood.IDLE, "busy": Mood.BUSY, "waiting": Mood.ASKING}
INTERRUPTED = "[Request interrupted by user"


class ClaudeCodePane:
    client: ClassVar[str] = CLIENT
    mark: ClassVar[str] = "❯"
    pause_seconds: ClassVar[float] = 0.5

    def __init__(
        self,
        command: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        reach: Reach | None,
    ) -> None:
        self._command = command
        self._arguments = tuple(arguments)
        self._files = ClaudeCodeFiles.of(environment)
        self._reach = reach

    def command(self, request: TurnRequest, environment: Mapping[str, str]) -> Sequence[str]:
        name = conversation_of(request)
        is_known = self._files.transcript(name) is not None
        return [
            self._command,
            f"--{'resume' if is_known else 'session-id'}={name}",
            *self._arguments,
            *tool_arguments(self._reach),
        ]

    def conversation(self, pane: Pane) -> str | None:
        entry = self._entry(pane)
        return None if entry is None else entry.agent_session_id

    def mood(self, pane: Pane) -> Mood:
        entry = self._entry(pane)
        return Mood.UNKNOWN if entry is None else MOODS.get(entry.status, Mood.UNKNOWN)

    def transcript(self, conversation: str) -> Path | None:
        return self._files.transcript(conversation)

    def reader(self, request: TurnRequest) -> PaneReader:
        return ClaudeCodePaneReader()

    def _entry(self, pane: Pane) -> OpenSession | None:
        return self._files.of_process(pane.pid)


class ClaudeCodePaneReader:
    def __init__(self) -> None:
        self._stream = ClaudeCodeReader()
        self._failure: str | None = None
        self.has_begun = False
        self.has_ended = False

    def read(self, line: bytes) -> Iterator[Told]:
        try:
            said = json.loads(line)
        except ValueError:
            return
        if said.get("isSidechain"):
            return
        match said.get("type"):
            case "user":
                text = _text(said)
                if INTERRUPTED in text:
                    self.has_ended = True
                elif not said.get("isMeta") and "toolUseResult" not in said:
                    self.has_begun = True
            case "attachment" if (said.get("attachment") or {}).get("type") == "queued_command":
                self.has_begun = True
            case "assistant" if said.get("isApiErrorMessage"):
                self._failure = _text(said)
            case "assistant":
                self._failure = None
            case "system" if said.get("subtype") == "turn_duration":
                self.has_ended = self.has_begun
        yield from self._stream.read(line)

    def judge(self) -> None:
        if self._failure is not None:
            raise AgentFailed(self._failure)


def _text(said: Mapping[str, object]) -> str:
    message = said.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
