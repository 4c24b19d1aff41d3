"""All agents that Navi supports, built in or from other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from navi.base.errors import NaviError
from navi.vendors.vendor import Vendor

if TYPE_CHECKING:
    from navi.vendors.agent_settings import AgentSettings
    from navi.vendors.source import Source

VENDORS = "navi.vendors"
"""The group of entry points under which a package names its subclasses of `Vendor`."""
SOURCES = "navi.sources"
"""The group that earlier versions used, for subclasses of `Source`."""
DEFAULT_PANE_AGENT = "claude_code"
"""The agent that runs in the pane of a session that names no program."""
PREFERRED_AGENTS = ("claude_code", "codex")
"""The agents to use for new sessions while no model is set up, best first."""


class VendorBroken(NaviError):
    """An agent from another package can't be loaded."""

    kind = "source_broken"

    def __init__(self, entry_point: EntryPoint, error: Exception) -> None:
        package = entry_point.dist.name if entry_point.dist is not None else entry_point.module
        super().__init__(
            f"can't load the agent {entry_point.name} from {package}: {error}",
            hint=f"update {package}, or remove it",
        )


@cache
def vendors() -> dict[str, Vendor]:
    """All agents, by name."""
    return {vendor.name: vendor for vendor in _load(VENDORS)}


@cache
def sources() -> dict[str, Source]:
    """The sources of all agents, by name."""
    vendor_sources = (vendor.source() for vendor in vendors().values())
    return {
        source.name: source for source in (*vendor_sources, *_load(SOURCES)) if source is not None
    }


def settings() -> dict[str, AgentSettings]:
    """The settings of agents that `navi setup` can connect, by the name that people type."""
    pairs = ((vendor.name, vendor.settings()) for vendor in vendors().values())
    return {name.replace("_", "-"): each for name, each in pairs if each is not None}


@cache
def _entry_points() -> Any:
    """Cached, because reading the metadata of all installed packages takes milliseconds."""
    return entry_points()


def _load(group: str) -> Iterator[Any]:
    for entry_point in _entry_points().select(group=group):
        try:
            factory: Callable[[], Any] = entry_point.load()
            yield factory()
        except Exception as error:
            raise VendorBroken(entry_point, error) from error
