"""Keeps other users of the machine out of Navi's files.

Navi sets a private umask for itself. Agents work for the person who started Navi, so they run with
that person's umask.
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
    """Keep other users out of new files of this process, and of children that keep its umask."""
    global _original_umask
    previous = os.umask(PRIVATE_UMASK)
    if _original_umask is None:
        _original_umask = previous


def person_umask() -> int:
    """The umask under which the person started this process."""
    if _original_umask is not None:
        return _original_umask
    current = os.umask(PRIVATE_UMASK)  # a umask can't be read without being set
    os.umask(current)
    return current


def close_to_others(paths: Iterable[str]) -> None:
    """Remove other users' permissions from these files and folders, if they are ours."""
    for path in paths:
        mode = _mode(path)
        if mode & OTHERS:
            try:
                os.chmod(path, mode & ~OTHERS)
            except OSError:
                pass  # not ours, or a file system without modes: `exposure` reports it


class Exposure(NamedTuple):
    """What other users of this machine can do with one of Navi's folders."""

    is_serious: bool
    detail: str
    hint: str


def exposure(folder: str, paths: Iterable[str]) -> Exposure | None:
    """The worst access other users have to `folder` or the files in it; None if they have none."""
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
    """The permission bits; 0 if the path does not exist or can't be examined."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return 0
