"""Where Navi's files are, and the server's address. Shared by the server and its clients."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8420
SQLITE_PREFIX = "sqlite:///"


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder with the live state: `NAVI_HOME`, else `$XDG_DATA_HOME/navi`."""
    if folder := environment.get("NAVI_HOME"):
        return Path(folder).expanduser().absolute()
    data = environment.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser().absolute() / "navi"


def database_url(environment: Mapping[str, str] = os.environ) -> str:
    """The store's URL: `NAVI_DATABASE_URL`, else a SQLite file in `home`."""
    if url := environment.get("NAVI_DATABASE_URL"):
        return url
    return f"{SQLITE_PREFIX}{home(environment) / 'navi.sqlite3'}"


def store_file(url: str) -> Path | None:
    """The file of a SQLite store; None for the URL of any other database."""
    return Path(url.removeprefix(SQLITE_PREFIX)) if url.startswith(SQLITE_PREFIX) else None


def token_file(environment: Mapping[str, str] = os.environ) -> Path:
    return home(environment) / "token"


def address_file(environment: Mapping[str, str] = os.environ) -> Path:
    """The file with the address of this home's server; see `served_address`."""
    return home(environment) / "address"


def settings_file(environment: Mapping[str, str] = os.environ) -> Path:
    if path := environment.get("NAVI_CONFIG"):
        return Path(path).expanduser().absolute()
    config = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(config).expanduser().absolute() / "navi" / "config.toml"


def tmux_socket(environment: Mapping[str, str] = os.environ) -> str:
    """The name of this home's socket for `tmux -L`. A path, for `tmux -S`, could be too long."""
    import hashlib

    return f"navi-{hashlib.sha256(str(home(environment)).encode()).hexdigest()[:8]}"


def pane_name(session_id: str) -> str:
    """The name of the tmux session in which this session's agent runs."""
    return f"navi-{session_id}"


def address(host: str, port: int) -> str:
    """The URL at which this machine reaches a server that listens on `host` and `port`."""
    reachable_host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    if ":" in reachable_host and not reachable_host.startswith("["):
        reachable_host = f"[{reachable_host}]"
    return f"http://{reachable_host}:{port}"
