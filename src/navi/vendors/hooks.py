"""The reports of agents' hooks, and Navi's answers, in Claude Code's format.

Other agents have adopted its events and fields; each vendor's hooks.py defines the differences.
"""

from __future__ import annotations

import json
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
from navi.live.model.hook_report import FinishedCall, HookReport
from navi.live.model.question import NewQuestion, Question
from navi.live.model.session import SessionState, first_line

STATES: Mapping[str, SessionState] = {
    "SessionStart": SessionState.IDLE,
    "UserPromptSubmit": SessionState.RUNNING,
    "PreToolUse": SessionState.RUNNING,
    "PermissionRequest": SessionState.WAITING,
    "PostToolUse": SessionState.RUNNING,
    "PreCompact": SessionState.RUNNING,
    "Stop": SessionState.IDLE,
    "StopFailure": SessionState.IDLE,
    "SessionEnd": SessionState.IDLE,
}
TURN_EVENTS = frozenset(
    ("SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd", "Interrupt")
)
"""The events at which an agent's turn begins or ends."""
IDLE_NOTIFICATION = "idle_prompt"
"""The type of a notification that only reports that the agent is idle."""
LONGEST_PATH = 4_096
"""The longest path on Linux."""


def _require_agent_session_id(value: str) -> str:
    if not is_agent_session_id(value):
        raise ValueError("not a valid id of an agent's session")
    return value


class Hook(BaseModel):
    """The fields of a hook's input that Navi reads."""

    model_config = ConfigDict(extra="ignore", strict=True)

    hook_event_name: str = Field(max_length=200)
    session_id: Annotated[str, AfterValidator(_require_agent_session_id)]
    cwd: str = Field("", max_length=LONGEST_PATH)
    transcript_path: str | None = Field(None, max_length=LONGEST_PATH)
    notification_type: str | None = Field(None, max_length=200)
    tool_use_id: str | None = Field(None, max_length=200)
    agent_id: str | None = None
    """The sub-agent that used the tool, if one did."""
    tool_name: str | None = Field(None, max_length=200)
    tool_input: dict[str, Any] | None = None
    permission_suggestions: list[dict[str, Any]] | None = None
    error: str | None = None
    last_assistant_message: str | None = None
    prompt: str | None = None

    @field_validator("tool_input", mode="before")
    @classmethod
    def _storable_object(cls, value: object) -> object:
        """Drop a tool's arguments if they can't be stored, rather than reject the report."""
        return value if isinstance(value, dict) and _is_storable(value) else None

    @field_validator("permission_suggestions", mode="before")
    @classmethod
    def _storable_objects(cls, value: object) -> object:
        is_list = isinstance(value, list) and all(isinstance(each, dict) for each in value)
        return value if is_list and _is_storable(value) else None

    @field_validator("prompt", "error", "last_assistant_message", mode="before")
    @classmethod
    def _first_line(cls, value: object) -> str | None:
        """Keep the first line. Anything but text counts as missing, so no report is rejected."""
        return first_line(value) if isinstance(value, str) else None

    @field_validator("*")
    @classmethod
    def _require_storable(cls, value: Any, info: ValidationInfo) -> Any:
        return require_storable(info.field_name or "", value) if type(value) is str else value


def _is_storable(value: object) -> bool:
    """Whether both databases can store it as JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return b"\\u0000" not in text


class HookDialect:
    """The hook protocol of one agent."""

    driver: ClassVar[str]
    events: ClassVar[Sequence[str]]
    """The events to which `navi setup` adds Navi's hook. Each hook slows the agent down, and an
    agent that doesn't support one of the events ignores the whole settings file."""
    since: ClassVar[Mapping[str, tuple[int, int, int]]] = {}
    """For events that older versions don't support: the first version that gets Navi's hook."""
    states: ClassVar[Mapping[str, SessionState]] = STATES
    """The session's state after an event."""
    reads_answers_with_results: ClassVar[bool] = False
    """Whether the agent reads its hook's answer to `PostToolUse` along with the tool's result."""
    hook_class: ClassVar[type[Hook]] = Hook

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
            finished_call=_finished_call(hook),
            shows_no_dialog=event in TURN_EVENTS,
            failure=_failure(hook) if event == "StopFailure" else None,
            prompt=hook.prompt,
        )

    def questions(self, hook: Hook, call_id: str) -> Sequence[NewQuestion]:
        """The questions in the agent's dialog; none if only the dialog itself can answer them."""
        return ()

    def decision_answer(self, hook: Hook, closed: Sequence[Question]) -> dict[str, Any]:
        """The answer with the person's decision, once the questions are closed."""
        raise NotImplementedError

    def next_input_answer(self, text: str) -> dict[str, Any]:
        """The answer that makes the agent continue with this text instead of stopping."""
        return {"decision": "block", "reason": text}

    def tool_result_answer(self, texts: Sequence[str]) -> dict[str, Any]:
        """The answer that the agent reads along with the tool's result."""
        context = {"hookEventName": "PostToolUse", "additionalContext": "\n\n".join(texts)}
        return {"hookSpecificOutput": context}

    def _state(self, hook: Hook) -> SessionState | None:
        if hook.hook_event_name == "Notification":
            return None if hook.notification_type == IDLE_NOTIFICATION else SessionState.WAITING
        return self.states.get(hook.hook_event_name)

    def _answerable_call(self, hook: Hook) -> str | None:
        """The id of the tool call whose result the agent reads along with the hook's answer.

        None for other events, and for a sub-agent's call, whose result the session's own agent
        never sees.
        """
        is_own_call = hook.hook_event_name == "PostToolUse" and hook.agent_id is None
        return hook.tool_use_id if self.reads_answers_with_results and is_own_call else None


def _finished_call(hook: Hook) -> FinishedCall | None:
    if hook.hook_event_name != "PostToolUse" or not hook.tool_name or hook.tool_input is None:
        return None
    return FinishedCall(hook.tool_name, hook.tool_input)


def _failure(hook: Hook) -> str:
    return hook.last_assistant_message or hook.error or "the agent's turn failed"
