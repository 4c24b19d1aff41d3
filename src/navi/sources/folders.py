"""Looking for sessions' files without opening any of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from stat import S_ISREG

from navi.domain.history import FoundFile


def entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing if it isn't there or may not be looked into."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except OSError:
        return


def found(entry: os.DirEntry[str]) -> Iterator[FoundFile]:
    """The entry if it is a file with something in it."""
    try:
        status = entry.stat()
        if status.st_size and S_ISREG(status.st_mode):
            yield FoundFile(entry.path, status.st_mtime, status.st_size)
    except OSError:
        return
