"""Changes of agents' own settings files. What is not Navi's stays as it is.

What a file was before is kept beside Navi's other files, so that taking Navi away restores it to
the byte, as long as nobody else changed it meanwhile; else only Navi's entries are taken out.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navi.domain import places
from navi.domain.errors import InvalidInput

HOOK_SCRIPT = "navi/hook.py"
"""What Navi's own hooks are known by."""
HOOK_SECONDS = 10
BEGIN, END = "# >>> navi >>>", "# <<< navi <<<"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Server:
    """The MCP server, as a program that the agent starts."""

    command: str
    arguments: Sequence[str]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Change:
    path: Path
    before: bytes | None
    """None where there is no file."""
    after: bytes | None
    is_removal: bool = False

    def difference(self) -> str:
        old, new = ((text or b"").decode().splitlines() for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm="")
        return "\n".join(lines)

    def write(self) -> None:
        """As a whole or not at all, with the mode that the file had."""
        keep = _kept(self.path)
        if self.after is None:
            self.path.unlink()
            keep.unlink(missing_ok=True)
            return
        mode = self.path.stat().st_mode & 0o777 if self.path.exists() else 0o600
        target = self.path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(self.after)
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        if self.is_removal:
            keep.unlink(missing_ok=True)
        else:
            _remember(keep, self.before, self.after)
        os.replace(name, target)


def hooks(path: Path, command: str, events: Sequence[str], *, remove: bool) -> Change:
    def without(settings: Json) -> None:
        found = settings.get("hooks")
        if not isinstance(found, dict):
            return
        for event in list(found):
            if isinstance(found[event], list):
                found[event] = [group for group in found[event] if not _is_ours(group)]
                if not found[event]:
                    del found[event]
        if not found:
            del settings["hooks"]

    def with_ours(settings: Json) -> None:
        without(settings)
        entry = {"type": "command", "command": command, "timeout": HOOK_SECONDS}
        for event in events:
            settings.setdefault("hooks", {}).setdefault(event, []).append({"hooks": [entry]})

    return _json_change(path, without if remove else with_ours, remove=remove)


def json_server(path: Path, server: Server, *, remove: bool) -> Change:
    def edit(settings: Json) -> None:
        servers = settings.get("mcpServers")
        servers = servers if isinstance(servers, dict) else {}
        servers.pop("navi", None)
        if not remove:
            entry = {
                "type": "stdio",
                "command": server.command,
                "args": list(server.arguments),
                "env": dict(server.environment),
            }
            settings["mcpServers"] = {**servers, "navi": entry}
        elif not servers:
            settings.pop("mcpServers", None)

    return _json_change(path, edit, remove=remove)


def toml_server(path: Path, server: Server, *, remove: bool) -> Change:
    """As a block of its own at the end: the person's comments and order stay."""
    before = _read(path)
    text = (before or b"").decode()
    start, end = text.find(BEGIN), text.find(END)
    if start >= 0 and end >= 0:
        text = text[:start] + text[end + len(END) :].removeprefix("\n")
    if remove:
        after = _restored(path, before) or text.encode() or None
        return Change(path, before, after, is_removal=True)
    gap = "" if not text or text.endswith("\n") else "\n"
    lines = [
        BEGIN,
        "[mcp_servers.navi]",
        f"command = {json.dumps(server.command)}",
        f"args = {json.dumps(list(server.arguments))}",
        "[mcp_servers.navi.env]",
        *(f"{name} = {json.dumps(value)}" for name, value in server.environment.items()),
        END,
    ]
    return Change(path, before, (text + gap + "\n".join(lines) + "\n").encode())


def _json_change(path: Path, edit: Callable[[Json], None], *, remove: bool) -> Change:
    before = _read(path)
    if remove and before is None:
        return Change(path, None, None)
    if remove and (whole := _restored(path, before)) is not None:
        return Change(path, before, whole or None, is_removal=True)
    try:
        settings = json.loads(before or b"{}")
    except ValueError as error:
        raise InvalidInput(
            f"{path} can't be changed: it is not JSON ({error})",
            hint="correct the file, then run this again",
        ) from error
    if not isinstance(settings, dict):
        raise InvalidInput(f"{path} can't be changed: it holds no settings", hint="look into it")
    unchanged = json.dumps(settings)
    edit(settings)
    if json.dumps(settings) == unchanged:
        return Change(path, before, before)
    return Change(path, before, _text(settings, before), is_removal=remove)


def _text(settings: Json, before: bytes | None) -> bytes:
    """With the indentation and the last line break that the file had."""
    lines = (before or b"").decode().splitlines()
    second = lines[1] if len(lines) > 1 else "  "
    indent = second[: len(second) - len(second.lstrip())] or "  "
    end = "\n" if before is None or before.endswith(b"\n") else ""
    return (json.dumps(settings, indent=indent, ensure_ascii=False) + end).encode()


def _is_ours(group: object) -> bool:
    entries = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(entries, list):
        return False
    commands = [str(entry.get("command", "")) for entry in entries if isinstance(entry, dict)]
    return any(HOOK_SCRIPT in word for command in commands for word in _words(command))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return [command]


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _kept(path: Path) -> Path:
    name = hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:16]
    return places.home() / "setup" / f"{name}.json"


def _remember(keep: Path, before: bytes | None, after: bytes) -> None:
    """What the file was before Navi first touched it."""
    known = _note(keep)
    if known is not None and before is not None and known["after"] == _digest(before):
        original = known["before"]
    else:
        original = None if before is None else before.decode()
    keep.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    keep.touch(mode=0o600)
    keep.write_text(json.dumps({"before": original, "after": _digest(after)}))


def _restored(path: Path, before: bytes | None) -> bytes | None:
    """The file as it was, if it is still as Navi left it. Empty where there was none."""
    known = _note(_kept(path))
    if known is None or before is None or known["after"] != _digest(before):
        return None
    original = known["before"]
    return b"" if original is None else str(original).encode()


def _note(keep: Path) -> Json | None:
    try:
        found: Json = json.loads(keep.read_text())
    except (OSError, ValueError):
        return None
    return found


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
