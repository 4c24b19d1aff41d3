"""Claude Code's settings file: rules added to `permissions.allow`, their guards to
`permissions.ask`, and both taken away again.

A person's file stays as it is: rules are put into the text at one place, and everything else keeps
every byte, its order, indentation, line ends and byte order mark. What was added is noted in a
small file of our own, so that it can be undone, even if the settings were changed since.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navi.base.errors import NaviError
from navi.index.json_text import JsonText, NotJson
from navi.permissions.bash_rule import covers


class UnreadableSettings(NaviError):
    kind, http_status = "unreadable_settings", 422

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{path} can't be changed: {why}", hint="correct the file, then run this again"
        )


class UnwritableSettings(NaviError):
    kind, http_status = "unwritable_settings", 403

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{path} can't be written: {why}",
            hint="make it writable (chmod u+w), then run this again",
        )


class SettingsChanged(NaviError):
    kind, http_status = "settings_changed", 409

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} has changed in the meantime; nothing was written",
            hint="run this again to see the new difference",
        )


class NothingToUndo(NaviError):
    kind, http_status = "nothing_to_undo", 404

    def __init__(self) -> None:
        super().__init__(
            "there is nothing to undo",
            hint="recall stats bash --suggest --apply adds rules that can be undone",
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a settings file that has not been written yet."""

    path: Path
    before: bytes | None
    """None if there was no file."""
    after: bytes | None
    """None if the file goes again."""
    rules: tuple[str, ...]
    """What is added to `allow` or taken away, without what was there already."""
    guards: tuple[str, ...] = ()
    """The same for `ask`."""

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """As `diff -u` shows it."""
        before, after = (
            (text or b"").decode("utf-8-sig").replace("\r\n", "\n").splitlines(keepends=True)
            for text in (self.before, self.after)
        )
        found = difflib.unified_diff(before, after, str(self.path), str(self.path), n=2)
        return "".join(line if line.endswith("\n") else line + "\n" for line in found)


def plan_adding(
    path: Path, rules: Sequence[str], guards: Mapping[str, Sequence[str]] | None = None
) -> Change:
    """The settings with these rules allowed, and with the guards of each of them.

    A rule that is there already, or that a wider one covers, is left out; so are the guards of one
    that is covered.
    """
    before = _read(path)
    text = _decode(path, before)
    allowed, asked = _listed(path, text, "allow"), _listed(path, text, "ask")
    added = [rule for rule in dict.fromkeys(rules) if not _is_covered(rule, allowed)]
    guarded = [rule for rule in dict.fromkeys(rules) if rule in added or rule in allowed]
    wanted = dict.fromkeys(guard for rule in guarded for guard in (guards or {}).get(rule, ()))
    missing = [guard for guard in wanted if not _is_covered(guard, asked)]
    for name, items in (("allow", added), ("ask", missing)):
        if items:
            text = _with_rules(path, text, name, items)
    after = text.encode("utf-8") if added or missing else before
    return Change(path, before, after, tuple(added), tuple(missing))


def _is_covered(rule: str, present: Sequence[object]) -> bool:
    return any(isinstance(each, str) and covers(each, rule) for each in present)


def plan_undoing(note: Path) -> Change:
    """The settings without what the last `write_adding` that was not yet undone put there."""
    noted = _read_notes(note)
    if not noted:
        raise NothingToUndo
    last = noted[-1]
    path, rules, guards = Path(last["path"]), tuple(last["rules"]), tuple(last["guards"])
    before = _read(path)
    if before is None:
        return Change(path, None, None, rules, guards)
    if _digest(before) == last["after"]:
        earlier = last["before"]
        content = None if earlier is None else bytes.fromhex(earlier)
        return Change(path, before, content, rules, guards)
    # The file has changed since: only our own rules go, wherever they are now.
    text = _decode(path, before)
    text, gone = _without_rules(path, text, "allow", rules)
    text, gone_guards = _without_rules(path, text, "ask", guards)
    return Change(path, before, text.encode("utf-8"), gone, gone_guards)


def _without_rules(
    path: Path, text: str, name: str, rules: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """The text without those of the rules that are in the list, and which these are."""
    gone = []
    for rule in rules:
        if rule in _listed(path, text, name):
            text = JsonText(text).without_item(("permissions", name), rule).text
            gone.append(rule)
    return text, tuple(gone)


def write_adding(change: Change, note: Path) -> None:
    """Write it, and note what has to be undone. The note comes first: no rule is ever unknown."""
    if not change.is_needed or change.after is None:
        return
    noted = _read_notes(note)
    last = {
        "path": str(change.path),
        "rules": list(change.rules),
        "guards": list(change.guards),
        "before": None if change.before is None else change.before.hex(),
        "after": _digest(change.after),
    }
    _write_notes(note, [*noted, last])
    try:
        _write(change)
    except BaseException:
        _write_notes(note, noted)
        raise


def write_undoing(change: Change, note: Path) -> None:
    _write(change)
    _write_notes(note, _read_notes(note)[:-1])


def _write(change: Change) -> None:
    if _read(change.path) != change.before:
        raise SettingsChanged(change.path)
    if not change.is_needed:
        return
    try:
        if change.after is None:
            _remove(change.path)
        else:
            _replace(change.path, change.after)
    except OSError as error:
        raise UnwritableSettings(change.path, (error.strerror or str(error)).lower()) from error


def _remove(path: Path) -> None:
    _refuse_read_only(path)
    path.unlink(missing_ok=True)


def _refuse_read_only(path: Path) -> None:
    """Who took all rights to write from a file does not want it replaced by another one either."""
    if path.exists() and not path.stat().st_mode & 0o222:
        raise UnwritableSettings(path, "it is read-only")


def _replace(path: Path, content: bytes) -> None:
    """All or nothing, also through a symbolic link, and with the same rights."""
    target = path.resolve()
    _refuse_read_only(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnreadableSettings(path, (error.strerror or str(error)).lower()) from error


def _read_notes(note: Path) -> list[dict[str, Any]]:
    """What was added and not undone, the oldest first."""
    content = _read(note)
    if content is None:
        return []
    try:
        names = ("path", "rules", "before", "after")
        return [
            # Notes of earlier versions have no guards.
            {**{name: last[name] for name in names}, "guards": last.get("guards", [])}
            for last in json.loads(content)
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableSettings(note, "it is not what was written there") from error


def _write_notes(note: Path, noted: list[dict[str, Any]]) -> None:
    try:
        if noted:
            _replace(note, json.dumps(noted, indent=1).encode())
        else:
            note.unlink(missing_ok=True)
    except OSError as error:
        raise UnwritableSettings(note, (error.strerror or str(error)).lower()) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _decode(path: Path, content: bytes | None) -> str:
    try:
        return "" if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableSettings(path, "it is not UTF-8 text") from error


def _listed(path: Path, text: str, name: str) -> list[Any]:
    """The rules of `permissions.allow` or `permissions.ask`."""
    if not text.lstrip("\ufeff").strip():
        return []
    try:
        settings = json.loads(text.lstrip("\ufeff"))
    except ValueError as error:
        raise UnreadableSettings(path, f"it is not valid JSON ({error})") from error
    except RecursionError as error:
        raise UnreadableSettings(path, "it is nested too deeply") from error
    permissions = settings.get("permissions", {}) if isinstance(settings, dict) else None
    rules = permissions.get(name, []) if isinstance(permissions, dict) else None
    if not isinstance(rules, list):
        raise UnreadableSettings(path, f"its permissions.{name} is not a list")
    return rules


def _with_rules(path: Path, text: str, name: str, rules: Sequence[str]) -> str:
    if not text.lstrip("\ufeff").strip():
        new = json.dumps({"permissions": {name: list(rules)}}, indent=2, ensure_ascii=False)
        return f"{text.rstrip()}{new}\n"
    try:
        after = JsonText(text).with_items(("permissions", name), rules).text
    except NotJson as error:
        raise UnreadableSettings(path, str(error)) from error
    if _listed(path, after, name)[-len(rules) :] != list(rules):
        raise UnreadableSettings(path, f"its permissions.{name} appears more than once")
    return after
