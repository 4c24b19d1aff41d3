"""Navi's entries in Codex's hooks.json and config.toml."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from navi.vendors.agent_settings import AgentSettings, McpServer
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.hooks import CodexHooks
from navi.vendors.codex.vendor import Codex

BEGIN, END = "# >>> navi >>>", "# <<< navi <<<"
TABLE = re.compile(r"\s*\[")
OWN_TABLE = re.compile(r"\s*\[mcp_servers\.navi[.\]]")


class CodexSettings(AgentSettings):
    title = Codex.title
    driver = Codex.name
    program = Codex.command
    hook_events = CodexHooks.events
    hooks_since = CodexHooks.since
    next_step = "Codex must trust the new hooks: start `codex`, type /hooks and trust Navi's"

    def __init__(self) -> None:
        folder = CodexHome.of().folder
        super().__init__(folder / "hooks.json", folder / "config.toml")

    def add_server(self, text: str, server: McpServer) -> str:
        """The text with a block appended, which leaves comments and order as they are."""
        if self.find_server(text) == server:
            return text
        rest = self.remove_server(text)
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
        gap = "\n" if rest and not rest.endswith("\n") else ""
        after = rest + gap + "\n".join([*lines, ""])
        _parse(after)
        return after

    def remove_server(self, text: str) -> str:
        # Codex moves comments when it edits the file, so BEGIN and END may enclose other tables.
        lines = []
        is_own_table = False
        for line in text.splitlines(keepends=True):
            if line.strip() in (BEGIN, END):
                is_own_table = False
                continue
            if TABLE.match(line):
                is_own_table = OWN_TABLE.match(line) is not None
            if not is_own_table or line.lstrip().startswith("#"):
                lines.append(line)
        rest = "".join(lines)
        expected, remaining = _parse(text), _parse(rest)
        for settings in (expected, remaining):
            settings.setdefault("mcp_servers", {})
        expected["mcp_servers"].pop("navi", None)
        if remaining != expected:
            raise ValueError("its [mcp_servers.navi] section is not the one that Navi wrote")
        return rest

    def find_server(self, text: str) -> McpServer | None:
        return McpServer.find_navi(_parse(text).get("mcp_servers"))


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"it is not TOML ({error})") from error


def _quoted(text: str) -> str:
    """A TOML string, which has the same escapes as JSON."""
    return json.dumps(text, ensure_ascii=False)
