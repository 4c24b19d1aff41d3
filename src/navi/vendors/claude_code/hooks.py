"""Claude Code's hooks: where Navi puts one."""

from __future__ import annotations

from collections.abc import Mapping

from navi.vendors.hooks import HookDialect

IN_RUNS: Mapping[str, str | None] = {"PostToolUse": None}
"""Events at which an agent that Navi started reports, each with its matcher: an agent at work reads
nudges there."""
IN_PANES: Mapping[str, str | None] = {"PreCompact": None, "SessionStart": "compact", **IN_RUNS}
"""In a terminal, only a hook says that the history is being summarised."""


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
