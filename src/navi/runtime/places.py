"""Where Navi keeps its files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from navi.domain.errors import StoreUnusable


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of the live state: `NAVI_HOME`, else `$XDG_DATA_HOME/navi`."""
    if named := environment.get("NAVI_HOME"):
        return Path(named).expanduser().absolute()
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser().absolute() / "navi"


def workspace(environment: Mapping[str, str] = os.environ) -> Path:
    """Where sessions work that name no folder: an empty one, not wherever the server started."""
    folder = home(environment) / "workspace"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def settings_file(environment: Mapping[str, str] = os.environ) -> Path:
    if named := environment.get("NAVI_CONFIG"):
        return Path(named).expanduser().absolute()
    config = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(config).expanduser().absolute() / "navi" / "config.toml"


def prepare_home(environment: Mapping[str, str] = os.environ) -> Path:
    """The home folder, there and writable; nobody else may look into it."""
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
    return folder


def database_url(environment: Mapping[str, str] = os.environ) -> str:
    """`NAVI_DATABASE_URL`, else a SQLite file in the home folder."""
    if named := environment.get("NAVI_DATABASE_URL"):
        return named
    return f"sqlite:///{home(environment) / 'navi.sqlite3'}"
