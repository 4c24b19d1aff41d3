"""The base class of every agent. A new agent is a subclass in a folder of its own.

Methods import what they return, so that searching the memory loads no driver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from navi.live.agents.command_line.agent_environment import Launch
    from navi.live.agents.driver import Driver
    from navi.live.agents.terminal.pane_agent import PaneAgent
    from navi.vendors.agent_settings import AgentSettings
    from navi.vendors.hooks import HookDialect
    from navi.vendors.price import Price
    from navi.vendors.source import Source


class Vendor:
    """One agent program. A subclass overrides only what its agent has."""

    name: ClassVar[str]
    """The name of its driver and its source, in the tables and on the wire: `claude_code`."""
    title: ClassVar[str]
    """Its name for people."""
    command: ClassVar[str] = ""
    """Its program's name on the PATH."""
    example_arguments: ClassVar[Sequence[str]] = ()
    """What people may add to its command line; shown in the settings reference."""
    nesting_prefixes: ClassVar[Sequence[str]] = ()
    """Prefixes of the variables that tell a process that this agent started it."""
    session_variable: ClassVar[str | None] = None
    """The variable that tells its MCP servers their session."""

    def source(self) -> Source | None:
        """Reads its sessions for the index."""
        return None

    def driver(self, launch: Launch) -> Driver | None:
        """Runs turns with it, without a terminal."""
        return None

    def terminal(self, launch: Launch) -> PaneAgent | None:
        """Runs turns with it in a terminal."""
        return None

    def hooks(self) -> HookDialect | None:
        """How it reports from people's own terminals."""
        return None

    def settings(self) -> AgentSettings | None:
        """Its settings files, to which `navi setup` adds Navi."""
        return None

    def variables(self, environment: Mapping[str, str]) -> Sequence[str]:
        """The variables that it needs besides those that every agent sees; `*` matches anything."""
        return ()

    def calling_session(self, metadata: Mapping[str, object]) -> str | None:
        """Which of its sessions is calling a tool, according to the call's metadata."""
        return None

    def prices(self) -> Mapping[str, Price]:
        """The prices of its models, by name."""
        return {}
