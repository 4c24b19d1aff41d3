"""Codex's hooks, which use Claude Code's format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from navi.live.model.session import SessionState
from navi.vendors.hooks import STATES, HookDialect


class CodexHooks(HookDialect):
    driver = "codex"

    states: ClassVar[Mapping[str, SessionState]] = {**STATES, "Interrupt": SessionState.IDLE}
