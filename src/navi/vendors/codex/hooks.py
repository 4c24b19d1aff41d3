"""Codex's hooks. They follow Claude Code's protocol and add one event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from navi.live.model.session import SessionState
from navi.vendors.hooks import STATES, HookDialect


class CodexHooks(HookDialect):
    driver = "codex"
    events = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop")
    states: ClassVar[Mapping[str, SessionState]] = {**STATES, "Interrupt": SessionState.IDLE}
