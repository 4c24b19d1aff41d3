"""Codex's hooks. They follow Claude Code's protocol and add the event `Interrupt`.

Codex runs its hook `PermissionRequest` before its dialog, not beside it, and shows the dialog once
the hook has ended without a decision. So the hook only reports that a person is about to be asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from navi.live.model.session import SessionState
from navi.vendors.hooks import STATES, HookDialect


class CodexHooks(HookDialect):
    driver = "codex"
    events = (
        "SessionStart",
        "UserPromptSubmit",
        "PermissionRequest",
        "PostToolUse",
        "PreCompact",
        "Interrupt",
        "Stop",
    )
    # The first version with which both were tested in a terminal.
    since: ClassVar[Mapping[str, tuple[int, int, int]]] = {
        "PermissionRequest": (0, 166, 0),
        "Interrupt": (0, 166, 0),
    }
    states: ClassVar[Mapping[str, SessionState]] = {**STATES, "Interrupt": SessionState.IDLE}
