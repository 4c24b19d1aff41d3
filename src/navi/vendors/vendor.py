"""The base class of every agent. Each agent is a subclass, in its own folder.

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
    """One agent program. A subclass overrides the methods for the parts that its agent has."""

    name: ClassVar[str]
    """The name of the agent's driver and source, in tables and on the wire, e.g. `claude_code`."""
    title: ClassVar[str]
    """The agent's name for people, e.g. `Claude Code`."""
    command: ClassVar[str] = ""
    """The program's name on the PATH; empty if there is none to start."""
    example_arguments: ClassVar[Sequence[str]] = ()
    """Arguments that people may add to the command line; shown in the settings reference."""
    models: ClassVar[Sequence[str]] = ()
    """Names of models to suggest, as its command line takes them."""
    nesting_prefixes: ClassVar[Sequence[str]] = ()
    """Prefixes of the environment variables that tell a process that this agent started it."""
    home_variable: ClassVar[str] = ""
    """The environment variable that names the agent's own folder; empty if there is none."""
    session_variable: ClassVar[str | None] = None
    """The environment variable in which MCP servers may find the agent's session id."""

    def source(self) -> Source | None:
        """The reader of the agent's sessions for the index."""
        return None

    def driver(self, launch: Launch) -> Driver | None:
        """The driver that runs the agent's turns without a terminal."""
        return None

    def terminal(self, launch: Launch) -> PaneAgent | None:
        """The runner of the agent's turns in a terminal pane."""
        return None

    def hooks(self) -> HookDialect | None:
        """The agent's hook protocol, by which it reports from people's own terminals."""
        return None

    def settings(self) -> AgentSettings | None:
        """The agent's settings files, to which `navi setup` adds Navi."""
        return None

    def variables(self, environment: Mapping[str, str]) -> Sequence[str]:
        """The variables that the agent needs besides the common ones; `*` matches anything."""
        return ()

    def calling_session(self, metadata: Mapping[str, object]) -> str | None:
        """The id of the agent's session that calls a tool, if the call's metadata has it."""
        return None

    def prices(self) -> Mapping[str, Price]:
        """The prices of the agent's models, by model name."""
        return {}
