"""Changes to agents' own settings files. What is not Navi's stays as it is.

What a file was before is kept beside Navi's other files, so that removing Navi restores it to the
byte, unless somebody else has changed it since; then only Navi's entries are taken out.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navi.base import paths
from navi.base.errors import InvalidInput

Json = dict[str, Any]
Edit = Callable[[Json], None]


@dataclass(frozen=True, slots=True)
class Change:
    path: Path
    before: bytes | None
    """None where there is no file."""
    after: bytes | None
    original: bytes | None = None
    """What to restore when Navi is removed."""
    is_removal: bool = False

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def difference(self) -> str:
        old, new = ((text or b"").decode().splitlines() for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, str(self.path), str(self.path), lineterm="")
        return "\n".join(lines)

    def write(self) -> None:
        """As a whole or not at all, with the mode that the file had."""
        try:
            self._write()
        except OSError as error:
            raise InvalidInput(
                f"can't write {self.path}: {error.strerror}",
                hint="make it writable, then run this again",
            ) from error

    def _write(self) -> None:
        original = _original_file(self.path)
        if self.after is None:
            self.path.unlink()
            original.unlink(missing_ok=True)
            return
        mode = self.path.stat().st_mode & 0o777 if self.path.exists() else 0o600
        target = self.path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(self.after)
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        if not self.is_removal:
            _remember(self)
        os.replace(name, target)
        if self.is_removal:
            original.unlink(missing_ok=True)


def edited_json(path: Path, remove: Edit, add: Edit | None = None) -> Change:
    """Takes out what is Navi's, then puts it in anew; without `add`, removes it for good."""
    before = read(path)
    if add is None:
        data = restored(path, before)
        return Change(path, before, _edited(path, data, [remove]), is_removal=True)
    after = _edited(path, before, [remove, add])
    return Change(path, before, after, original=_edited(path, before, [remove]))


def _edited(path: Path, data: bytes | None, edits: Sequence[Edit]) -> bytes | None:
    settings = parsed_json(path, data)
    unchanged = json.dumps(settings)
    for edit in edits:
        edit(settings)
    return data if json.dumps(settings) == unchanged else _text(settings, data)


def parsed_json(path: Path, data: bytes | None) -> Json:
    try:
        settings = json.loads(data or b"{}")
    except ValueError as error:
        raise unusable(path, f"it is not JSON ({error})") from error
    if not isinstance(settings, dict):
        raise unusable(path, "it is not a JSON object")
    return settings


def section(path: Path, settings: Json, name: str) -> Json:
    """The object of that name in the settings, made if it is missing."""
    if settings.get(name) is None:
        settings[name] = {}
    value = settings[name]
    if not isinstance(value, dict):
        raise unusable(path, f'"{name}" in it is not a JSON object')
    return value


def unusable(path: Path, problem: str) -> InvalidInput:
    return InvalidInput(
        f"can't change {path}: {problem}", hint="correct the file, then run this again"
    )


def read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InvalidInput(
            f"can't read {path}: {error.strerror}", hint="make it readable, then run this again"
        ) from error


def _text(settings: Json, before: bytes | None) -> bytes:
    """With the indentation and the last line break that the file had."""
    lines = (before or b"").decode().splitlines()
    second = lines[1] if len(lines) > 1 else "  "
    indent = second[: len(second) - len(second.lstrip())] or "  "
    end = "\n" if before is None or before.endswith(b"\n") else ""
    return (json.dumps(settings, indent=indent, ensure_ascii=False) + end).encode()


def originals() -> Path:
    """The folder with agents' settings files as they were before Navi changed them."""
    return paths.home() / "setup"


def changed_files() -> list[Path]:
    """The files that Navi changed and whose originals it still keeps."""
    notes = [_note(file) for file in sorted(originals().glob("*.json"))]
    # Earlier versions did not note the path.
    return [Path(note["path"]) for note in notes if note is not None and "path" in note]


def restored(path: Path, data: bytes | None) -> bytes | None:
    """The file as it was before Navi changed it, if it still is as Navi left it; else as it is."""
    note = _note(_original_file(path))
    if note is None or data is None or note["after"] != _digest(data):
        return data
    original = note["before"]
    return None if original is None else str(original).encode()


def _remember(change: Change) -> None:
    """What the file was before Navi first changed it."""
    file = _original_file(change.path)
    original = restored(change.path, change.before)
    if original == change.before:
        original = change.original
    note = {
        "path": str(change.path.absolute()),
        "before": None if original is None else original.decode(),
        "after": _digest(change.after or b""),
    }
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.touch(mode=0o600)
    file.write_text(json.dumps(note))


def _original_file(path: Path) -> Path:
    name = hashlib.sha256(str(path.absolute()).encode()).hexdigest()[:16]
    return originals() / f"{name}.json"


def _note(file: Path) -> Json | None:
    with suppress(OSError, ValueError):
        note = json.loads(file.read_text())
        if isinstance(note, dict) and {"before", "after"} <= set(note):
            return note
    return None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
