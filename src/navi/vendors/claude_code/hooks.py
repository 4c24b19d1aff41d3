"""Claude Code's hooks: the events to which Navi adds its own, and questions in a terminal.

While a permission dialog is on the screen, Claude Code runs the hook `PermissionRequest` beside it,
and the first decision counts: the person's in the terminal, or the hook's answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from navi.live.model.question import NewQuestion, Question
from navi.vendors.claude_code.inquiries import CHOICE_TOOL, PLAN_TOOL, decision_of, questions_of
from navi.vendors.hooks import Hook, HookDialect

NUDGE_HOOKS: Mapping[str, str | None] = {"PostToolUse": None}
"""The events at which the hook's answer delivers nudges to a busy agent, and their matchers; None
matches everything."""
RUN_HOOKS: Mapping[str, str | None] = {"PreToolUse": f"{CHOICE_TOOL}|{PLAN_TOOL}", **NUDGE_HOOKS}
"""The events at which an agent without a terminal runs Navi's hook, and their matchers. When the
agent asks for a choice or presents a plan, the hook makes it exit until a person has decided (since
2.1.89; earlier versions ignore that and wait)."""
PANE_HOOKS: Mapping[str, str | None] = {
    "PreCompact": None,
    "SessionStart": "compact",
    "PermissionRequest": None,
    **NUDGE_HOOKS,
}
"""The events at which an agent in a pane runs Navi's hook, and their matchers. There, only hooks
report that the history is being summarised, and only hooks can answer a dialog."""
TIMEOUT_SECONDS: Mapping[str, int] = {"PermissionRequest": 7 * 86_400}
"""How long a hook that waits for a person may take. The hook ends by itself a little earlier
(`DECISION_SECONDS` in hook.py)."""


SINCE: Mapping[str, tuple[int, int, int]] = {
    # Earlier versions have the event (2.0.45), but don't check input that a hook has changed
    # against the person's own `deny` rules.
    "PermissionRequest": (2, 1, 110),
    "StopFailure": (2, 1, 78),
}
"""The first version that gets Navi's hook, for events that older versions don't support. Versions
before 2.1.101 ignore a whole settings file if they don't support one of its events.

`PostCompact` (2.1.76) is not used: `SessionStart` reports the end of a compaction too, in every
version, and Claude Code shows a line for each hook of `PostCompact`."""


class ClaudeCodeHooks(HookDialect):
    driver = "claude_code"
    events = (
        "SessionStart",
        "UserPromptSubmit",
        "PermissionRequest",
        "PostToolUse",
        "Notification",
        "PreCompact",
        "Stop",
        "StopFailure",
        "SessionEnd",
    )
    since = SINCE
    reads_answers_with_results = True

    def questions(self, hook: Hook, call_id: str) -> Sequence[NewQuestion]:
        if hook.hook_event_name != "PermissionRequest" or hook.tool_name is None:
            return ()
        if hook.agent_id is not None:
            return ()  # Claude Code shows a sub-agent's dialog only once the hook has ended
        if hook.tool_name == PLAN_TOOL or hook.tool_input is None:
            return ()  # the hook's input lacks the plan, so only the terminal shows it
        return questions_of(_request(hook, call_id))

    def decision_answer(self, hook: Hook, closed: Sequence[Question]) -> dict[str, Any]:
        decision = decision_of(_request(hook, closed[0].call_id), closed)
        output = {"hookEventName": "PermissionRequest", "decision": decision}
        return {"hookSpecificOutput": output}


def _request(hook: Hook, call_id: str) -> dict[str, Any]:
    """The hook's input in the form of a `can_use_tool` request."""
    return {
        "tool_use_id": call_id,
        "tool_name": hook.tool_name,
        "input": hook.tool_input,
        "permission_suggestions": hook.permission_suggestions,
    }
