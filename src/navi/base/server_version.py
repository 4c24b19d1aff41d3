"""Compares the version in the server's last response with this program's own."""

from __future__ import annotations

from navi import __version__

_server_version = __version__


def remember(version: str) -> None:
    global _server_version
    _server_version = version


def difference() -> str | None:
    """A note for people if the server's version is not this program's."""
    if _server_version == __version__:
        return None
    return (
        f"the server runs Navi {_server_version}, but this is {__version__}; restart the server, "
        "or upgrade the older one"
    )
