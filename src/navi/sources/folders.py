"""Looking for sessions' files without opening any of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from stat import S_ISREG

from navi.memory.model import FoundFile


def entries(folder: str, unreadable: list[str]) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing if it is not there. One that is closed to us is noted."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        unreadable.append(folder)


def found(entry: os.DirEntry[str], unreadable: list[str]) -> Iterator[FoundFile]:
    """The entry if it is a file with something in it."""
    try:
        status = entry.stat()
    except FileNotFoundError:
        return
    except OSError:
        unreadable.append(entry.path)
        return
    if status.st_size and S_ISREG(status.st_mode):
        yield FoundFile(entry.path, status.st_mtime, status.st_size)
