"""Claude Code, Anthropic's agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from navi.vendors.vendor import Vendor

if TYPE_CHECKING:
    from navi.live.agents.command_line.agent_environment import Launch
    from navi.vendors.claude_code.command_line import ClaudeCodeDriver
    from navi.vendors.claude_code.history import ClaudeCodeSource
    from navi.vendors.claude_code.hooks import ClaudeCodeHooks
    from navi.vendors.claude_code.settings import ClaudeCodeSettings
    from navi.vendors.claude_code.terminal import ClaudeCodeTerminal
    from navi.vendors.price import Price


class ClaudeCode(Vendor):
    name = "claude_code"
    title = "Claude Code"
    command = "claude"
    example_arguments = ("--permission-mode", "acceptEdits")
    models = ("opus", "sonnet", "haiku")
    nesting_prefixes = ("CLAUDE",)
    home_variable = "CLAUDE_CONFIG_DIR"
    session_variable = "CLAUDE_CODE_SESSION_ID"

    def source(self) -> ClaudeCodeSource:
        from navi.vendors.claude_code.history import ClaudeCodeSource

        return ClaudeCodeSource()

    def driver(self, launch: Launch) -> ClaudeCodeDriver:
        from navi.vendors.claude_code.command_line import ClaudeCodeDriver

        return ClaudeCodeDriver(launch)

    def terminal(self, launch: Launch) -> ClaudeCodeTerminal:
        from navi.vendors.claude_code.terminal import ClaudeCodeTerminal

        return ClaudeCodeTerminal(launch)

    def hooks(self) -> ClaudeCodeHooks:
        from navi.vendors.claude_code.hooks import ClaudeCodeHooks

        return ClaudeCodeHooks()

    def settings(self) -> ClaudeCodeSettings:
        from navi.vendors.claude_code.settings import ClaudeCodeSettings

        return ClaudeCodeSettings()

    def variables(self, environment: Mapping[str, str]) -> Sequence[str]:
        from navi.vendors.claude_code.environment import variables

        return variables(environment)

    def prices(self) -> Mapping[str, Price]:
        from navi.vendors.claude_code.prices import PRICES

        return PRICES
