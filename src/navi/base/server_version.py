"""Compares the version of the server that answered last with this program's own."""

from __future__ import annotations

from navi import __version__

_latest = __version__


def remember(version: str) -> None:
    global _latest
    _latest = version


def difference() -> str | None:
    """A note for people if the server's version is not this program's."""
    if _latest == __version__:
        return None
    return (
        f"the server runs Navi {_latest}, but this is {__version__}; restart the server, or "
        "upgrade the older one"
    )
