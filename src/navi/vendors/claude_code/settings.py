"""Navi's entries in Claude Code's settings.json and .claude.json.

`navi setup` adds hooks and an MCP server; `recall stats bash --apply` adds permission rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from navi.base.errors import NaviError
from navi.permissions.bash_rule import covers
from navi.vendors import json_edit
from navi.vendors.agent_settings import AgentSettings, McpServer
from navi.vendors.claude_code.home import ClaudeCodeHome, state_file
from navi.vendors.claude_code.hooks import TIMEOUT_SECONDS, ClaudeCodeHooks
from navi.vendors.claude_code.vendor import ClaudeCode
from navi.vendors.json_edit import Json
from navi.vendors.settings_file import Change, plan_edit, plan_undo, read_as, read_receipts


class ClaudeCodeSettings(AgentSettings):
    title = ClaudeCode.title
    driver = ClaudeCode.name
    program = ClaudeCode.command
    hook_events = ClaudeCodeHooks.events
    hooks_since = ClaudeCodeHooks.since
    hook_timeouts = TIMEOUT_SECONDS
    next_step = (
        "new Claude Code sessions will show up in `sm status`; start one and try, for example:\n"
        "  Wake up in 2 minutes and tell me what has changed in this folder."
    )

    def __init__(self) -> None:
        super().__init__(ClaudeCodeHome.of().settings, state_file())

    def add_server(self, text: str, server: McpServer) -> str:
        program, *arguments = server.command
        entry = {
            "type": "stdio",
            "command": program,
            "args": arguments,
            "env": dict(server.environment),
        }

        def add(settings: Json) -> None:
            if settings.get("mcpServers") is None:
                settings["mcpServers"] = {}
            if not isinstance(settings["mcpServers"], dict):
                raise ValueError('its "mcpServers" is not an object')
            settings["mcpServers"]["navi"] = entry

        return json_edit.edit(text, add)

    def remove_server(self, text: str) -> str:
        return json_edit.edit(text, _remove_server)

    def find_server(self, text: str) -> McpServer | None:
        return McpServer.find_navi(json_edit.parse(text).get("mcpServers"))


def _remove_server(settings: Json) -> None:
    servers = settings.get("mcpServers")
    if isinstance(servers, dict) and "navi" in servers:
        del servers["navi"]
        if not servers:
            del settings["mcpServers"]


class NothingToUndo(NaviError):
    kind, http_status = "nothing_to_undo", 404

    def __init__(self) -> None:
        super().__init__(
            "there is nothing to undo",
            hint="`recall stats bash --suggest --apply` adds rules that can be undone",
        )


def plan_rules(
    path: Path,
    rules: Sequence[str],
    guards: Mapping[str, Sequence[str]],
    receipts_file: Path,
) -> Change:
    """Plan to add rules to `permissions.allow`, and the guards of each to `permissions.ask`.

    A rule that is already allowed still gets its guards. If only a wider rule is allowed, the rule
    and its guards are skipped.
    """
    allow_rules, ask_rules = read_as(path, _parse_rules)
    new_rules = [rule for rule in dict.fromkeys(rules) if not _is_covered(rule, allow_rules)]
    all_guards = [
        guard
        for rule in rules
        if rule in new_rules or rule in allow_rules
        for guard in guards.get(rule, ())
    ]
    new_guards = [guard for guard in dict.fromkeys(all_guards) if not _is_covered(guard, ask_rules)]

    def add(settings: Json) -> None:
        for name, items in (("allow", new_rules), ("ask", new_guards)):
            if items:
                settings.setdefault("permissions", {}).setdefault(name, []).extend(items)

    return plan_edit(
        path,
        lambda text: json_edit.edit(text, add),
        receipts_file,
        read_receipts(receipts_file),
        {"allow": new_rules, "ask": new_guards},
    )


def plan_rules_undo(receipts_file: Path) -> Change:
    """Plan to remove the rules of the newest change that has not been undone yet.

    Raises `NothingToUndo` if there is no such change.
    """
    receipts = read_receipts(receipts_file)
    if not receipts:
        raise NothingToUndo
    path, added = Path(receipts[-1].path), receipts[-1].added

    def remove(settings: Json) -> None:
        for name, items in added.items():
            present = _rules(settings, name)
            for item in items:
                if item in present:
                    present.remove(item)

    return plan_undo(path, lambda text: json_edit.edit(text, remove), receipts_file, receipts)


def _parse_rules(text: str) -> tuple[list[object], list[object]]:
    settings = json_edit.parse(text)
    return _rules(settings, "allow"), _rules(settings, "ask")


def _rules(settings: Json, name: str) -> list[object]:
    permissions = settings.get("permissions", {})
    rules = permissions.get(name, []) if isinstance(permissions, dict) else None
    if not isinstance(rules, list):
        raise ValueError(f"its permissions.{name} is not a list")
    return rules


def _is_covered(rule: str, existing: Sequence[object]) -> bool:
    return any(isinstance(other, str) and covers(other, rule) for other in existing)
