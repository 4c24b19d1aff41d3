"""Codex in a pane. The lock that it holds says which thread it has open, its rollout the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from navi.agents.codex import tool_arguments
from navi.agents.codex_files import CodexFiles
from navi.agents.codex_lines import CLIENT
from navi.agents.codex_transcript import CodexTranscriptReader
from navi.live.agents.command_line.agent_environment import Reach
from navi.live.agents.driver import TurnRequest
from navi.live.agents.terminal.tmux import Pane
from navi.live.agents.terminal.transcript_tail import Mood, TranscriptReader


class CodexPane:
    client: ClassVar[str] = CLIENT
    mark: ClassVar[str] = "›"
    pause_seconds: ClassVar[float] = 0.8

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
        self._files = CodexFiles.of(environment)
        self._reach = reach

    def command(self, request: TurnRequest, environment: Mapping[str, str]) -> Sequence[str]:
        thread = request.conversation
        resume = ["resume", thread] if thread is not None else []
        tools = tool_arguments(self._reach, self._files)
        return [self._command, *resume, "--no-daemon", *self._arguments, *tools]

    def conversation(self, pane: Pane) -> str | None:
        return self._files.thread_of(pane.pid)

    def mood(self, pane: Pane) -> Mood:
        thread = self._files.thread_of(pane.pid)
        return Mood.UNKNOWN if thread is None else self._files.mood(thread, pane.started)

    def transcript(self, conversation: str) -> Path | None:
        return self._files.rollout(conversation)

    def reader(self, request: TurnRequest) -> TranscriptReader:
        return CodexTranscriptReader()
