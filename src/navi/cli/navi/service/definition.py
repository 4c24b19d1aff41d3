"""Writes and removes the file that defines the service. Refuses files that Navi did not write."""

from __future__ import annotations

from pathlib import Path

from navi.base.errors import Conflict
from navi.cli.navi.service.service_manager import ServiceManager

MARK = "Written by `navi service install`; `navi service uninstall` removes it."
"""A comment in the file, by which Navi recognises that it wrote the file."""


def write_definition(file: Path, text: str) -> bool:
    """Write the file. False if it has this content already."""
    existing = _read_own(file)
    if existing == text:
        return False
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.new")
    draft.write_text(text)
    draft.replace(file)
    return True


def remove_service(manager: ServiceManager) -> None:
    """Stop the service and delete its file."""
    _read_own(manager.file)
    manager.disable()
    manager.file.unlink(missing_ok=True)
    manager.forget()


def _read_own(file: Path) -> str | None:
    """The content; None if there is no such file. Raises if Navi did not write it."""
    try:
        text = file.read_text()
    except FileNotFoundError:
        return None
    if MARK not in text:
        raise Conflict(f"{file} was not written by Navi", hint="move it away, then try again")
    return text
