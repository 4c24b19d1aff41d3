"""Claude Code in a pane. Its registry says where it is, its transcript what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from navi.agents.claude_code import MOODS, conversation_of, tool_arguments
from navi.agents.claude_code_files import ClaudeCodeFiles, OpenSession
from navi.agents.claude_code_lines import CLIENT
from navi.agents.claude_code_transcript import ClaudeCodeTranscriptReader
from navi.agents.client_environment import Reach
from navi.agents.driver import TurnRequest
from navi.agents.following import Mood, TranscriptReader
from navi.agents.tmux import Pane
from navi.domain.places import hook_command


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
            *self._hook_arguments(),
        ]

    def _hook_arguments(self) -> list[str]:
        """In a terminal nothing but a hook tells that the history is being summarised."""
        # Claude Code takes settings once, and those of the person come first.
        if self._reach is None or any(each.startswith("--settings") for each in self._arguments):
            return []
        hook = {"type": "command", "command": hook_command("claude_code", self._reach.address)}
        hooks = {
            "PreCompact": [{"hooks": [hook]}],
            "SessionStart": [{"matcher": "compact", "hooks": [hook]}],
        }
        return [f"--settings={json.dumps({'hooks': hooks})}"]

    def conversation(self, pane: Pane) -> str | None:
        entry = self._entry(pane)
        return None if entry is None else entry.agent_session_id

    def mood(self, pane: Pane) -> Mood:
        entry = self._entry(pane)
        return Mood.UNKNOWN if entry is None else MOODS.get(entry.status, Mood.UNKNOWN)

    def transcript(self, conversation: str) -> Path | None:
        return self._files.transcript(conversation)

    def reader(self, request: TurnRequest) -> TranscriptReader:
        return ClaudeCodeTranscriptReader()

    def _entry(self, pane: Pane) -> OpenSession | None:
        return self._files.of_process(pane.pid)
