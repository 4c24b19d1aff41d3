"""What agents report through their hooks, and how Navi answers, in Claude Code's format.

Other agents adopted its names for events and fields; each vendor's hooks.py says what differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)

from navi.base.ids import is_agent_session_id
from navi.base.stored_text import require_storable
from navi.live.model.hook_report import HookReport
from navi.live.model.session import SessionState, first_line

STATES: Mapping[str, SessionState] = {
    "SessionStart": SessionState.IDLE,
    "UserPromptSubmit": SessionState.RUNNING,
    "PreToolUse": SessionState.RUNNING,
    "PostToolUse": SessionState.RUNNING,
    "PreCompact": SessionState.RUNNING,
    "Stop": SessionState.IDLE,
    "SessionEnd": SessionState.IDLE,
}
IDLE_NOTICE = "idle_prompt"
"""The type of a notification that only says that the agent is idle."""
LONGEST_PATH = 4_096
"""The longest path on Linux."""


def _agent_session_id(name: str) -> str:
    if not is_agent_session_id(name):
        raise ValueError("this can't be the id of an agent's session")
    return name


class Hook(BaseModel):
    """The fields of a hook's input that Navi reads."""

    model_config = ConfigDict(extra="ignore", strict=True)

    hook_event_name: str = Field(max_length=200)
    session_id: Annotated[str, AfterValidator(_agent_session_id)]
    cwd: str = Field("", max_length=LONGEST_PATH)
    transcript_path: str | None = Field(None, max_length=LONGEST_PATH)
    notification_type: str | None = Field(None, max_length=200)
    tool_use_id: str | None = Field(None, max_length=200)
    agent_id: str | None = None
    """The sub-agent that used the tool, if one did."""
    prompt: str | None = None

    @field_validator("prompt", mode="before")
    @classmethod
    def _first_line(cls, value: object) -> str | None:
        """Never refuse a report because of what a person typed."""
        return first_line(value) if isinstance(value, str) else None

    @field_validator("*")
    @classmethod
    def _require_storable(cls, value: Any, info: ValidationInfo) -> Any:
        return require_storable(info.field_name or "", value) if type(value) is str else value


class HookDialect:
    """The hook protocol of one agent."""

    driver: ClassVar[str]
    events: ClassVar[Sequence[str]]
    """The events to which `navi setup` adds Navi's hook. Each slows the agent down, and a version
    that doesn't know an event ignores the whole file."""
    states: ClassVar[Mapping[str, SessionState]] = STATES
    """The session's state after an event."""
    reads_answers_with_results: ClassVar[bool] = False
    """Whether the agent reads its hook's answer to `PostToolUse` along with the tool's result."""
    fields: ClassVar[type[Hook]] = Hook

    def report(self, hook: Hook, emitted_at: datetime) -> HookReport:
        event = hook.hook_event_name
        return HookReport(
            driver=self.driver,
            agent_session_id=hook.session_id,
            cwd=hook.cwd,
            emitted_at=emitted_at,
            transcript_path=hook.transcript_path,
            state=self._state(hook),
            is_open=event != "SessionEnd",
            asks_what_next=event == "Stop",
            began_compaction=event == "PreCompact",
            tool_call_id=self._answerable_call(hook),
            prompt=hook.prompt,
        )

    def next_input(self, text: str) -> dict[str, Any]:
        """The answer that makes the agent continue with this text instead of stopping."""
        return {"decision": "block", "reason": text}

    def with_tool_result(self, texts: Sequence[str]) -> dict[str, Any]:
        """The answer that the agent reads along with the tool's result."""
        context = {"hookEventName": "PostToolUse", "additionalContext": "\n\n".join(texts)}
        return {"hookSpecificOutput": context}

    def _state(self, hook: Hook) -> SessionState | None:
        if hook.hook_event_name == "Notification":
            return None if hook.notification_type == IDLE_NOTICE else SessionState.WAITING
        return self.states.get(hook.hook_event_name)

    def _answerable_call(self, hook: Hook) -> str | None:
        """The call whose result the agent reads along with the hook's answer.

        None for a sub-agent's call, because the session's own agent never sees its result.
        """
        is_own_call = hook.hook_event_name == "PostToolUse" and hook.agent_id is None
        return hook.tool_use_id if self.reads_answers_with_results and is_own_call else None
