"""What agents report by their hooks, and what it means for their sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from navi.live.model.session import SessionState

STATES = {
    "SessionStart": SessionState.IDLE,
    "UserPromptSubmit": SessionState.RUNNING,
    "PreToolUse": SessionState.RUNNING,
    "PostToolUse": SessionState.RUNNING,
    "PreCompact": SessionState.RUNNING,
    "Stop": SessionState.IDLE,
    "Interrupt": SessionState.IDLE,
    "SessionEnd": SessionState.IDLE,
}
IDLE_NOTICE = "idle_prompt"
"""The kind of a notification which only says that nothing happens."""


@dataclass(frozen=True, slots=True)
class News:
    """One report of a hook. `event` is the hook's own name."""

    driver: str
    agent_session_id: str
    event: str
    cwd: str
    transcript_path: str | None
    notification: str | None
    emitted_at: datetime
    tool_call_id: str | None = None
    """The call that a tool has just answered."""
    is_of_subagent: bool = False
    prompt: str | None = None
    """The first line of what the person has just typed."""

    @property
    def takes_nudges(self) -> bool:
        """Whether the agent reads what its hook answers, with the result of its tool."""
        is_claude_code = self.driver == "claude_code" and not self.is_of_subagent
        return is_claude_code and self.event == "PostToolUse" and self.tool_call_id is not None

    @property
    def state(self) -> SessionState | None:
        """Where the agent is now; None if this says nothing about it."""
        if self.event == "Notification":
            return None if self.notification == IDLE_NOTICE else SessionState.WAITING
        return STATES.get(self.event)

    @property
    def is_open(self) -> bool:
        """Whether its terminal is still there afterwards."""
        return self.event != "SessionEnd"

    @property
    def asks_what_next(self) -> bool:
        return self.event == "Stop"

    @property
    def began_compaction(self) -> bool:
        """The agent summarises its history. Whatever it reports next, it has done that."""
        return self.event == "PreCompact"
