"""Navi's MCP server in an agent's settings: JSON for Claude Code, TOML for Codex."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navi.cli.navi.setup_files import (
    Change,
    Json,
    edited_json,
    parsed_json,
    read,
    restored,
    section,
    unusable,
)

BEGIN, END = "# >>> navi >>>", "# <<< navi <<<"
TABLE = re.compile(r"\s*\[")
OUR_TABLE = re.compile(r"\s*\[mcp_servers\.navi[.\]]")


@dataclass(frozen=True, slots=True)
class Server:
    """A program that the agent starts."""

    command: Sequence[str]
    environment: Mapping[str, str]


def with_server(path: Path, server: Server) -> Change:
    return _with_toml(path, server) if path.suffix == ".toml" else _with_json(path, server)


def without_server(path: Path) -> Change:
    return _without_toml(path) if path.suffix == ".toml" else edited_json(path, _remove)


def server_in(path: Path) -> Server | None:
    data = read(path)
    if path.suffix == ".toml":
        servers = _parsed_toml(path, data).get("mcp_servers")
    else:
        servers = parsed_json(path, data).get("mcpServers")
    entry = servers.get("navi") if isinstance(servers, dict) else None
    if not isinstance(entry, dict) or "command" not in entry:
        return None
    command = [entry["command"], *(entry.get("args") or [])]
    environment = entry.get("env") or {}
    return Server([*map(str, command)], {name: str(environment[name]) for name in environment})


def _with_json(path: Path, server: Server) -> Change:
    program, *arguments = server.command
    environment = dict(server.environment)
    entry = {"type": "stdio", "command": program, "args": arguments, "env": environment}

    def add(settings: Json) -> None:
        section(path, settings, "mcpServers")["navi"] = entry

    return edited_json(path, _remove, add)


def _remove(settings: Json) -> None:
    servers = settings.get("mcpServers")
    if not isinstance(servers, dict) or "navi" not in servers:
        return
    del servers["navi"]
    if not servers:
        del settings["mcpServers"]


def _with_toml(path: Path, server: Server) -> Change:
    """As a block of its own at the end: the person's comments and order stay."""
    before = read(path)
    rest = _without_ours(path, before)
    program, *arguments = server.command
    lines = [
        BEGIN,
        "[mcp_servers.navi]",
        f"command = {_quoted(program)}",
        f"args = [{', '.join(map(_quoted, arguments))}]",
        "[mcp_servers.navi.env]",
        *(f"{name} = {_quoted(value)}" for name, value in server.environment.items()),
        END,
    ]
    gap = b"" if not rest or rest.endswith(b"\n") else b"\n"
    after = (rest or b"") + gap + "\n".join([*lines, ""]).encode()
    _parsed_toml(path, after)
    return Change(path, before, after, original=rest)


def _without_toml(path: Path) -> Change:
    before = read(path)
    after = _without_ours(path, restored(path, before))
    return Change(path, before, after, is_removal=True)


def _without_ours(path: Path, data: bytes | None) -> bytes | None:
    """Without Navi's tables. Codex moves the comments around them when it changes the file, so
    what stands between these may be anybody's."""
    if data is None:
        return None
    lines = []
    is_ours = False
    for line in data.decode(errors="replace").splitlines(keepends=True):
        if line.strip() in (BEGIN, END):
            is_ours = False
            continue
        if TABLE.match(line):
            is_ours = OUR_TABLE.match(line) is not None
        if not is_ours or line.lstrip().startswith("#"):
            lines.append(line)
    rest = "".join(lines).encode()
    expected, remaining = _parsed_toml(path, data), _parsed_toml(path, rest)
    for settings in (expected, remaining):
        settings.setdefault("mcp_servers", {})
    expected["mcp_servers"].pop("navi", None)
    if remaining != expected:
        raise unusable(path, "its section [mcp_servers.navi] is not as Navi wrote it")
    return rest


def _parsed_toml(path: Path, data: bytes | None) -> dict[str, Any]:
    try:
        return tomllib.loads((data or b"").decode())
    except ValueError as error:
        raise unusable(path, f"it is not TOML ({error})") from error


def _quoted(text: str) -> str:
    """As a basic string of TOML, which has the escapes of JSON."""
    return json.dumps(text, ensure_ascii=False)
