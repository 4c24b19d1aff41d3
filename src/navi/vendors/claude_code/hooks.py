"""Claude Code's hooks, and the events at which Navi adds its own."""

from __future__ import annotations

from collections.abc import Mapping

from navi.vendors.hooks import HookDialect

IN_RUNS: Mapping[str, str | None] = {"PostToolUse": None}
"""The hooks of agents that Navi starts, each event with its matcher. A busy agent reads nudges
there."""
IN_PANES: Mapping[str, str | None] = {"PreCompact": None, "SessionStart": "compact", **IN_RUNS}
"""In a terminal, only hooks report that the history is being summarised."""


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
