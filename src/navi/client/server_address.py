"""Finds the server and its token."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from navi.base import paths
from navi.base.errors import UsageError
from navi.base.served_address import served_address

TOKEN_HINT = "set NAVI_TOKEN to your token; the server's own is in its $NAVI_HOME/token"


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server is, and the token for it."""

    address: str
    token: str | None
    token_source: str
    """Where the token was found, or looked for."""


def find_server(environment: Mapping[str, str] = os.environ) -> Server:
    """The server in `NAVI_URL`, else this home's, running or not, with the token to use."""
    served = None if environment.get("NAVI_URL") else served_address(environment)
    address = served or configured_address(environment)
    token = environment.get("NAVI_TOKEN", "").strip()
    # An agent that Navi started has its session's token and never uses the person's.
    is_agent = "NAVI_TOKEN" in environment and "NAVI_SESSION_ID" in environment
    if token or is_agent:
        return Server(address, token or None, "NAVI_TOKEN")
    path = paths.token_file(environment)
    try:
        return Server(address, path.read_text().strip() or None, str(path))
    except FileNotFoundError:
        return Server(address, None, str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"can't read the access token {path}", hint="make it readable, or set NAVI_TOKEN"
        ) from error


def configured_address(environment: Mapping[str, str] = os.environ) -> str:
    """`NAVI_URL`, else the address in the settings, whether or not a server is running."""
    if url := environment.get("NAVI_URL"):
        return _require_address(url)
    return _local_address(environment)


def lasting_address(environment: Mapping[str, str] = os.environ) -> str | None:
    """`configured_address`; None if the server picks a new port at each start."""
    if environment.get("NAVI_URL"):
        return configured_address(environment)
    is_fixed = _port(settings_section("server", environment), environment) != "0"
    return configured_address(environment) if is_fixed else None


def authorization_header(server: Server) -> dict[str, str]:
    token = server.token or ""
    if not token.isascii() or not token.isprintable():
        raise UsageError(
            f"the access token in {server.token_source} contains invalid characters",
            hint=TOKEN_HINT,
        )
    return {"Authorization": f"Bearer {token}"}


def _require_address(url: str) -> str:
    """The scheme, host and port in `url`. If it is invalid, the error shows a valid example."""
    example = paths.address(paths.DEFAULT_HOST, paths.DEFAULT_PORT)
    refusal = UsageError(f"NAVI_URL={url} is not a valid address", hint=f"like NAVI_URL={example}")
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise refusal from error
    if parts.scheme not in ("http", "https") or not host:
        raise refusal
    url_host = f"[{host}]" if ":" in host else host
    address = f"{parts.scheme}://{url_host}" + ("" if port is None else f":{port}")
    if parts.path not in ("", "/") or parts.query or parts.fragment or parts.username:
        raise UsageError("NAVI_URL must contain only an address", hint=f"set it to {address}")
    return address


def _local_address(environment: Mapping[str, str]) -> str:
    """The address at which the settings, unchecked, make `navi serve` listen."""
    settings = settings_section("server", environment)
    host = environment.get("NAVI_SERVER_HOST") or settings.get("host", paths.DEFAULT_HOST)
    port = _port(settings, environment)
    if not port.isdecimal() or not 0 < int(port) < 65_536:
        raise UsageError(
            f"the setting server.port is {port}, so the server's port is unknown",
            hint="set NAVI_URL to the address that `navi serve` prints",
        )
    return paths.address(str(host), int(port))


def _port(settings: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    return str(environment.get("NAVI_SERVER_PORT") or settings.get("port", paths.DEFAULT_PORT))


def settings_section(name: str, environment: Mapping[str, str] = os.environ) -> Mapping[str, Any]:
    """A section of the settings file, unchecked: checking would slow down short commands."""
    path = paths.settings_file(environment)
    try:
        text = path.read_text()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"can't read {path}", hint="correct the file, or set NAVI_CONFIG to another one"
        ) from error
    import tomllib

    try:
        section = tomllib.loads(text).get(name, {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"can't read {path}: {error}",
            hint="correct the file, or set NAVI_CONFIG to another one",
        ) from error
    return section if isinstance(section, dict) else {}
