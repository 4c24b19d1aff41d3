"""Navi's hooks in an agent's settings: JSON of the same shape in Claude Code and Codex."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from navi.cli.navi.setup_files import (
    Change,
    Json,
    edited_json,
    parsed_json,
    read,
    section,
    unusable,
)

TIMEOUT_SECONDS = 10
PYTHON_OPTIONS = ["-I", "-S"]
DRIVERS = ("claude_code", "codex")


def with_hooks(path: Path, command: str, events: Sequence[str]) -> Change:
    """Navi's hook at these events, in place of any that an earlier version put there."""

    def add(settings: Json) -> None:
        entry = {"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}
        hooks = section(path, settings, "hooks")
        for event in events:
            groups = hooks.setdefault(event, [])
            if not isinstance(groups, list):
                raise unusable(path, f'"{event}" in it is not a list of hooks')
            groups.append({"hooks": [entry]})

    return edited_json(path, _remove, add)


def without_hooks(path: Path) -> Change:
    return edited_json(path, _remove)


def hooks_in(path: Path) -> dict[str, str]:
    """Navi's command at each event that has one."""
    hooks = parsed_json(path, read(path)).get("hooks")
    commands = {}
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group in groups if isinstance(groups, list) else ():
            for entry in _entries(group):
                if _is_ours(entry):
                    commands[event] = entry["command"]
    return commands


def hook_position(words: Sequence[str]) -> int | None:
    """Where Navi's hook begins in a command, as every version wrote it: the Python, its options,
    the script, the kind of agent, the server's address and the file with the token."""
    for position in range(len(words) - 6):
        _, *options, script, driver = words[position : position + 5]
        is_our_script = script.endswith("navi/hook.py") and driver in DRIVERS
        if options == PYTHON_OPTIONS and is_our_script:
            return position
    return None


def words_of(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _remove(settings: Json) -> None:
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return
    for event, groups in list(hooks.items()):
        if not isinstance(groups, list) or not any(map(_has_ours, groups)):
            continue
        rest = [_without_ours(group) if _has_ours(group) else group for group in groups]
        hooks[event] = [group for group in rest if group is not None]
        if not hooks[event]:
            del hooks[event]
        if not hooks:
            del settings["hooks"]


def _without_ours(group: Json) -> Json | None:
    """What somebody else put into the same group stays."""
    rest = [entry for entry in group["hooks"] if not _is_ours(entry)]
    return {**group, "hooks": rest} if rest else None


def _has_ours(group: object) -> bool:
    return any(map(_is_ours, _entries(group)))


def _entries(group: object) -> list[Any]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def _is_ours(entry: object) -> bool:
    if not isinstance(entry, Mapping) or not isinstance(command := entry.get("command"), str):
        return False
    return hook_position(words_of(command)) is not None
