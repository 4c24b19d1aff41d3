"""Claude Code's hooks, and the events at which Navi adds its own."""

from __future__ import annotations

from collections.abc import Mapping

from navi.vendors.hooks import HookDialect

RUN_HOOKS: Mapping[str, str | None] = {"PostToolUse": None}
"""The hook events of agents that run without a terminal, each with its matcher. The hook's answer
brings nudges to a busy agent."""
PANE_HOOKS: Mapping[str, str | None] = {"PreCompact": None, "SessionStart": "compact", **RUN_HOOKS}
"""The same in panes, where only hooks report that the history is being summarised."""


class ClaudeCodeHooks(HookDialect):
    driver = "claude_code"
    events = (
        "SessionStart",
        "UserPromptSubmit",
        "PostToolUse",
        "Notification",
        "PreCompact",
        "Stop",
        "SessionEnd",
    )

    reads_answers_with_results = True
