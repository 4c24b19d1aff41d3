"""Codex, OpenAI's agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from navi.vendors.vendor import Vendor

if TYPE_CHECKING:
    from navi.live.agents.command_line.agent_environment import Launch
    from navi.vendors.codex.command_line import CodexDriver
    from navi.vendors.codex.history import CodexSource
    from navi.vendors.codex.hooks import CodexHooks
    from navi.vendors.codex.settings import CodexSettings
    from navi.vendors.codex.terminal import CodexTerminal
    from navi.vendors.price import Price

VARIABLES = ("OPENAI_*", "CODEX_HOME", "CODEX_API_KEY", "RUST_LOG")
"""`*` matches anything."""


class Codex(Vendor):
    name = "codex"
    title = "Codex"
    command = "codex"
    example_arguments = ("--sandbox", "workspace-write")
    models = ("gpt-5.5", "gpt-5.4-mini", "gpt-5.3-codex")
    nesting_prefixes = ("CODEX",)
    home_variable = "CODEX_HOME"
    session_variable = "CODEX_THREAD_ID"

    def source(self) -> CodexSource:
        from navi.vendors.codex.history import CodexSource

        return CodexSource()

    def driver(self, launch: Launch) -> CodexDriver:
        from navi.vendors.codex.command_line import CodexDriver

        return CodexDriver(launch)

    def terminal(self, launch: Launch) -> CodexTerminal:
        from navi.vendors.codex.terminal import CodexTerminal

        return CodexTerminal(launch)

    def hooks(self) -> CodexHooks:
        from navi.vendors.codex.hooks import CodexHooks

        return CodexHooks()

    def settings(self) -> CodexSettings:
        from navi.vendors.codex.settings import CodexSettings

        return CodexSettings()

    def variables(self, environment: Mapping[str, str]) -> Sequence[str]:
        return VARIABLES

    def calling_session(self, metadata: Mapping[str, object]) -> str | None:
        # Codex need not pass CODEX_THREAD_ID to MCP servers, but names the thread in every call.
        turn = metadata.get("x-codex-turn-metadata")
        thread = turn.get("session_id") if isinstance(turn, dict) else None
        return thread if isinstance(thread, str) else None

    def prices(self) -> Mapping[str, Price]:
        from navi.vendors.codex.prices import PRICES

        return PRICES
