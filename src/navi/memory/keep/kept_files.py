"""The list of kept files, in the folder with their copies.

It is replaced in one step, and a copy that is rewritten gets a new name. So even after a kill, the
list matches the copies that it names.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from navi.base.whole_file import replace_file
from navi.memory.index_errors import IndexUnusable
from navi.memory.index_paths import IndexPaths

VERSION = 1


class KeptFile(msgspec.Struct, frozen=True):
    """One kept file, as it was when it was last copied."""

    source: str
    path: str
    """Where the original was, and where it is restored."""
    mtime: float
    size: int
    digest: str
    """SHA-256 of the file."""
    copy: str
    """The name of the copy."""
    copy_size: int
    """Bytes of the copy. Anything after them was written by a process that was killed."""
    parts: int
    """How many times the copy was written to."""


class KeptFiles(msgspec.Struct):
    version: int = VERSION
    files: dict[str, KeptFile] = {}
    """By session id."""
    refused: set[str] = set()
    """Sessions that a person does not want to keep, even if all are kept."""


def list_path(paths: IndexPaths) -> Path:
    return paths.kept / "kept.json"


def load(paths: IndexPaths) -> KeptFiles:
    path = list_path(paths)
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=KeptFiles)
    except FileNotFoundError:
        return KeptFiles()
    except (OSError, msgspec.DecodeError) as error:
        raise IndexUnusable(
            f"can't read the list of kept sessions, {path}: {error}",
            hint="move its folder elsewhere and `recall keep` the sessions again; "
            "its copies are gzip files",
        ) from error
    if kept.version != VERSION:
        raise IndexUnusable(
            f"{path} was written by another version of recall", hint="update recall"
        )
    return kept


def save(paths: IndexPaths, kept: KeptFiles) -> None:
    """Replace the list, then delete the copies that it no longer names."""
    path = list_path(paths)
    replace_file(path, msgspec.json.encode(kept))
    names = {each.copy for each in kept.files.values()} | {path.name}
    for entry in os.scandir(paths.kept):
        if entry.name not in names:
            os.unlink(entry.path)
