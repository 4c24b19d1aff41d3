"""All agents that Navi knows, built in or from other packages."""

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
"""The group of earlier versions, under which a package names its subclasses of `Source`."""
DEFAULT_IN_PANES = "claude_code"
"""What runs in a pane for which nothing else was named."""


class VendorBroken(NaviError):
    """An agent of another package can't be loaded."""

    kind = "source_broken"

    def __init__(self, entry_point: EntryPoint, error: Exception) -> None:
        package = entry_point.dist.name if entry_point.dist is not None else entry_point.module
        super().__init__(
            f"the agent {entry_point.name} of {package} can't be loaded: {error}",
            hint=f"update {package}, or remove it",
        )


@cache
def vendors() -> dict[str, Vendor]:
    """By name."""
    return {vendor.name: vendor for vendor in _load(VENDORS)}


@cache
def sources() -> dict[str, Source]:
    """What reads their sessions, by name."""
    built = (vendor.source() for vendor in vendors().values())
    return {source.name: source for source in (*built, *_load(SOURCES)) if source is not None}


def settings() -> dict[str, AgentSettings]:
    """The settings files of those that `navi setup` can connect, by the name that people type."""
    built = ((vendor.name, vendor.settings()) for vendor in vendors().values())
    return {name.replace("_", "-"): files for name, files in built if files is not None}


@cache
def _entry_points() -> Any:
    """Of every installed package: reading their metadata takes milliseconds."""
    return entry_points()


def _load(group: str) -> Iterator[Any]:
    for entry_point in _entry_points().select(group=group):
        try:
            factory: Callable[[], Any] = entry_point.load()
            yield factory()
        except Exception as error:
            raise VendorBroken(entry_point, error) from error
