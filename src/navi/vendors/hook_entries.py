"""Navi's hooks in an agent's JSON settings. Claude Code and Codex use the same format."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from navi.vendors.json_edit import Json

TIMEOUT_SECONDS = 10
PYTHON_OPTIONS = ["-I", "-S"]


class HookCommand(NamedTuple):
    """The parts of a hook's command line that all versions of Navi have in common."""

    python: str
    script: str
    address: str
    token_file: str


def find_hook_command(line: str) -> HookCommand | None:
    """The parts of a hook's command line; None if it is not Navi's hook."""
    words = split_words(line)
    for position in range(len(words) - 6):
        python, *options, script, _driver, address, token_file = words[position : position + 7]
        if options == PYTHON_OPTIONS and script.endswith("navi/hook.py"):
            return HookCommand(python, script, address, token_file)
    return None


def split_words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return [line]


def add_hooks(
    settings: Json, command: str, events: Sequence[str], timeouts: Mapping[str, int]
) -> None:
    """Add `command` to these events, after removing Navi's hooks from all events.

    `timeouts` has the seconds for events that need more than `TIMEOUT_SECONDS`.
    """
    remove_hooks(settings)
    if settings.get("hooks") is None:
        settings["hooks"] = {}
    if not isinstance(hooks := settings["hooks"], dict):
        raise ValueError('its "hooks" is not an object')
    for event in events:
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise ValueError(f'its "{event}" is not a list of hooks')
        timeout = timeouts.get(event, TIMEOUT_SECONDS)
        entry = {"type": "command", "command": command, "timeout": timeout}
        groups.append({"hooks": [entry]})


def remove_hooks(settings: Json) -> None:
    """Remove Navi's hooks and leave all others, even in the same group."""
    hooks = settings.get("hooks")
    for event, groups in list(hooks.items()) if isinstance(hooks, dict) else ():
        if not isinstance(groups, list):
            continue
        rest = [group for group in map(_without_navi_hooks, groups) if group is not None]
        if rest == groups:
            continue
        settings["hooks"][event] = rest
        if not rest:
            del settings["hooks"][event]
        if not settings["hooks"]:
            del settings["hooks"]


def find_hooks(settings: Json) -> dict[str, str]:
    """The command lines of Navi's hooks, by event."""
    hooks = settings.get("hooks")
    return {
        event: entry["command"]
        for event, groups in (hooks.items() if isinstance(hooks, dict) else ())
        for group in (groups if isinstance(groups, list) else ())
        for entry in _entries(group)
        if _is_navi_hook(entry)
    }


def _without_navi_hooks(group: Any) -> Any:
    """The group without Navi's hooks; None if it has no others."""
    rest = [entry for entry in _entries(group) if not _is_navi_hook(entry)]
    if len(rest) == len(_entries(group)):
        return group
    return {**group, "hooks": rest} if rest else None


def _entries(group: Any) -> list[Any]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def _is_navi_hook(entry: Any) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(command, str) and find_hook_command(command) is not None
