"""Claude Code in a pane. Its registry says where it is, its transcript what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from navi.agents.claude_code import (
    MOODS,
    NUDGE_HOOKS,
    conversation_of,
    hook_arguments,
    tool_arguments,
)
from navi.agents.claude_code_files import ClaudeCodeFiles, OpenSession
from navi.agents.claude_code_lines import CLIENT
from navi.agents.claude_code_transcript import ClaudeCodeTranscriptReader
from navi.live.agents.command_line.agent_environment import Reach
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import Mood, TranscriptReader

# In a terminal nothing but a hook tells that the history is being summarised.
HOOKS: Mapping[str, str | None] = {"PreCompact": None, "SessionStart": "compact", **NUDGE_HOOKS}


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
        self.environment = environment
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
            *hook_arguments(self._reach, self._arguments, HOOKS),
        ]

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
