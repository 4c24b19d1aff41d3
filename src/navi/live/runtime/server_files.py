"""Where Navi keeps its files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from navi.base import file_modes
from navi.base.errors import StoreUnusable
from navi.base.paths import database_url, home, settings_file, store_file, tmux_socket

__all__ = [
    "database_url",
    "home",
    "own_files",
    "prepare_home",
    "runs",
    "settings_file",
    "store_file",
    "tmux_socket",
    "workspace",
]

STORE_SUFFIXES = ("", "-wal", "-shm", "-journal", "-bell")
"""How the names of a SQLite store's files end: the database, SQLite's helper files, and the file
that `signals.wake_server` touches."""


def workspace(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of sessions that were created without one."""
    folder = home(environment) / "workspace"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def runs(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of all run folders, which outlive the server."""
    return home(environment) / "runs"


def prepare_home(environment: Mapping[str, str] = os.environ) -> Path:
    """Create the home folder, and deny other users of the machine access to Navi's files."""
    folder = home(environment)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise StoreUnusable(
            f"can't write to {folder}: {error.strerror}",
            hint="make the folder writable, or set NAVI_HOME to another one",
        ) from error
    file_modes.close_to_others(own_files(environment))
    return folder


def own_files(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Navi's files and folders, except the workspace. Other users may not read them."""
    files = [str(home(environment) / name) for name in ("token", "address", "runs", "setup")]
    if store := store_file(database_url(environment)):
        files += [f"{store}{suffix}" for suffix in STORE_SUFFIXES]
    return files
