"""Finds an agent's home and its session files, without opening them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from stat import S_ISREG

from navi.memory.model import SessionFile


def home_folder(environment: Mapping[str, str], variable: str, name: str) -> Path:
    """The value of `variable`; if it is not set, the folder `name` in the person's home."""
    if folder := environment.get(variable):
        return Path(folder).expanduser()
    home = environment.get("HOME")
    return (Path(home) if home else Path.home()) / name


def entries(folder: str, unreadable: list[str]) -> Iterator[os.DirEntry[str]]:
    """Yield a folder's entries, if it exists. Add it to `unreadable` if it can't be read."""
    try:
        with os.scandir(folder) as listing:
            yield from listing
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        unreadable.append(folder)


def session_file(entry: os.DirEntry[str], unreadable: list[str]) -> Iterator[SessionFile]:
    """Yield the entry if it is a non-empty file. Add it to `unreadable` if `stat` fails."""
    try:
        status = entry.stat()
    except FileNotFoundError:
        return
    except OSError:
        unreadable.append(entry.path)
        return
    if status.st_size and S_ISREG(status.st_mode):
        yield SessionFile(entry.path, status.st_mtime, status.st_size)
