"""Reversible changes to settings files that belong to other programs.

A change is planned, can be shown as a diff, and is then written in one step. The file keeps its
mode, its owner and the symbolic links to it. A file that is read-only, malformed or edited since
the plan is left alone. A receipt keeps the old text, so an undo restores every byte; if the file
was edited after the change, the undo removes only Navi's entries.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from navi.base.errors import NaviError

T = TypeVar("T")
Edit = Callable[[str], str]
"""Returns a file's new text. Raises ValueError, with the reason, if it can't edit this file."""


class UnusableSettings(NaviError):
    kind, http_status = "unreadable_settings", 422

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"can't change {path}: {reason}", hint="fix the file, then try again")


class UnwritableSettings(NaviError):
    kind, http_status = "unwritable_settings", 403

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"can't write {path}: {reason}",
            hint="make it and its folder writable (chmod u+w), then try again",
        )


class SettingsChanged(NaviError):
    kind, http_status = "settings_changed", 409

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} was edited in the meantime, so nothing was written",
            hint="run the command again to see the new diff",
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """The information needed to undo a change."""

    path: str
    before: str | None
    """None if there was no file."""
    after: str
    """A digest of the file as Navi left it."""
    added: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The permission rules that were added to `allow` and `ask`; empty for hooks and servers."""


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change from `before` to `after`, where None stands for a missing file."""

    path: Path
    before: str | None
    after: str | None
    receipts_file: Path
    receipts: Sequence[Receipt]
    """The new content of `receipts_file`."""
    is_undo: bool = False

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        """The change as `diff -u` prints it."""
        old, new = (
            (text or "").lstrip("\ufeff").splitlines() for text in (self.before, self.after)
        )
        return "\n".join(
            difflib.unified_diff(old, new, str(self.path), str(self.path), n=2, lineterm="")
        )

    def line_counts(self) -> tuple[int, int]:
        """How many lines the diff adds and removes."""
        lines = self.diff().splitlines()[2:]
        return sum(each[:1] == "+" for each in lines), sum(each[:1] == "-" for each in lines)

    def write(self) -> None:
        """Write the file and its receipts, in an order that leaves every change undoable."""
        if read(self.path) != self.before:
            raise SettingsChanged(self.path)
        if self.is_undo:
            if self.is_needed:
                _write(self.path, self.after)
            _write_receipts(self.receipts_file, self.receipts)
        elif self.is_needed:
            self._write_with_receipts()

    def _write_with_receipts(self) -> None:
        earlier = read(self.receipts_file)
        _write_receipts(self.receipts_file, self.receipts)
        try:
            _write(self.path, self.after)
        except BaseException:
            _write(self.receipts_file, earlier)
            raise


def plan_edit(
    path: Path,
    edit: Edit,
    receipts_file: Path,
    receipts: Sequence[Receipt],
    added: Mapping[str, Sequence[str]],
) -> Change:
    """A change on top of earlier ones. They can be undone one by one, newest first."""
    before = read(path)
    after = _apply_edit(path, before, edit)
    receipt = Receipt(str(path.absolute()), before, _digest(after or ""), added)
    return Change(path, before, after, receipts_file, [*receipts, receipt])


def plan_undo(path: Path, remove: Edit, receipts_file: Path, receipts: Sequence[Receipt]) -> Change:
    """A change that brings back the text before the newest receipt, if the file is still as Navi
    left it. `remove` then removes any other entries of Navi."""
    before = read(path)
    after = before
    if receipts and before is not None and _digest(before) == receipts[-1].after:
        after = receipts[-1].before
    after = _apply_edit(path, after, remove)
    return Change(path, before, after, receipts_file, receipts[:-1], is_undo=True)


def plan_replacement(
    path: Path, edit: Edit, remove: Edit, receipts_file: Path, receipts: Sequence[Receipt]
) -> Change:
    """A change that replaces earlier ones; undoing it undoes them all."""
    undo = plan_undo(path, remove, receipts_file, receipts)
    after = _apply_edit(path, undo.before, edit)
    receipt = Receipt(str(path.absolute()), undo.after, _digest(after or ""))
    return Change(path, undo.before, after, receipts_file, [receipt])


def _apply_edit(path: Path, text: str | None, edit: Edit) -> str | None:
    """The new text; a missing file stays missing if there is nothing to write."""
    try:
        edited = edit(text or "")
    except ValueError as error:
        raise UnusableSettings(path, str(error)) from error
    return None if text is None and not edited else edited


def read(path: Path) -> str | None:
    """The file's text; None if there is no such file."""
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise UnusableSettings(path, "it is not UTF-8 text") from error
    except OSError as error:
        raise UnusableSettings(path, _reason(error)) from error


def read_as(path: Path, parse: Callable[[str], T]) -> T:
    """The file as `parse` reads it; a missing file counts as an empty one."""
    try:
        return parse(read(path) or "")
    except ValueError as error:
        raise UnusableSettings(path, str(error)) from error


def read_receipts(file: Path) -> list[Receipt]:
    """The receipts of changes that have not been undone, oldest first."""
    text = read(file)
    if text is None:
        return []
    try:
        entries = json.loads(text)
        # Earlier versions of `navi setup` kept one receipt, not a list.
        return [_receipt(entry) for entry in (entries if isinstance(entries, list) else [entries])]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnusableSettings(file, "its content is not what Navi wrote") from error


def _receipt(entry: dict[str, Any]) -> Receipt:
    if "rules" in entry:
        # As earlier versions of `recall stats bash --apply` wrote it.
        before = None if entry["before"] is None else bytes.fromhex(entry["before"]).decode()
        added = {"allow": entry["rules"], "ask": entry.get("guards", [])}
        return Receipt(entry["path"], before, entry["after"], added)
    return Receipt(**{"path": "", **entry})


def _write_receipts(file: Path, receipts: Sequence[Receipt]) -> None:
    entries = [asdict(receipt) for receipt in receipts]
    _write(file, json.dumps(entries, indent=1) if entries else None)


def _write(path: Path, text: str | None) -> None:
    """Replace the file in one step, or delete it."""
    # Symbolic links stay links: people link to the dotfiles that they share.
    target = path.resolve()
    try:
        status = target.stat() if target.exists() else None
        # Replacing it would work, but a person made it read-only for a reason.
        if status is not None and not status.st_mode & 0o222:
            raise UnwritableSettings(path, "it is read-only")
        if text is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(target, text, status)
    except OSError as error:
        raise UnwritableSettings(path, _reason(error)) from error


def _replace(target: Path, text: str, status: os.stat_result | None) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            if status is not None:
                with suppress(PermissionError):  # only root may change a file's owner
                    os.fchown(file.fileno(), status.st_uid, status.st_gid)
                os.fchmod(file.fileno(), status.st_mode & 0o777)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
