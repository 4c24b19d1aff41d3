"""Who may read what Navi writes.

Whatever a command makes is closed to other users, by its umask. What agents make is the person's:
they get back the umask with which the person started the command.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from shlex import quote
from typing import NamedTuple

PRIVATE_UMASK = 0o077
OTHERS = stat.S_IRWXG | stat.S_IRWXO

_original_umask: int | None = None


def make_files_private() -> None:
    """Whatever this process and its children make from now on is closed to other users."""
    global _original_umask
    previous = os.umask(PRIVATE_UMASK)
    if _original_umask is None:
        _original_umask = previous


def person_umask() -> int:
    """The umask with which the person started this process, for what works on their behalf."""
    if _original_umask is not None:
        return _original_umask
    current = os.umask(PRIVATE_UMASK)  # it can't be read without being set
    os.umask(current)
    return current


def close_to_others(paths: Iterable[str]) -> None:
    """Take other users' permissions on these files and folders away, where they are ours."""
    for path in paths:
        mode = _mode(path)
        if mode & OTHERS:
            try:
                os.chmod(path, mode & ~OTHERS)
            except OSError:
                pass  # not ours, or a file system without modes: `exposure` reports it


class Exposure(NamedTuple):
    """What other users of the machine can do with a folder of Navi's."""

    is_serious: bool
    detail: str
    hint: str


def exposure(folder: str, paths: Iterable[str]) -> Exposure | None:
    """The worst that other users can do in `folder`, where `paths` are Navi's own files."""
    if _mode(folder) & stat.S_IWOTH:
        return Exposure(True, "every user can replace files in it", f"chmod go-w {quote(folder)}")
    for path in paths:
        if _mode(path) & OTHERS:
            return Exposure(True, f"other users can open {path}", f"chmod go= {quote(path)}")
    if _mode(folder) & OTHERS:
        detail = "other users can list it, but not read Navi's files"
        return Exposure(False, detail, f"chmod 700 {quote(folder)}")
    return None


def _mode(path: str) -> int:
    """0 for what does not exist."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0
