"""Writes a kept file back to its place, so that its agent can resume the session."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from navi.base.errors import Conflict, NotFound
from navi.memory.index_paths import IndexPaths
from navi.memory.keep import file_copy
from navi.memory.keep.kept_files import KeptFile, KeptFiles
from navi.vendors.source import Source

SHORTEST_REFERENCE = 4


class NotKept(NotFound):
    kind = "not_kept"

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"no file of session {reference} was kept",
            hint="`recall keep` lists the kept sessions; `recall show` shows what was indexed",
        )


class OtherFile(Conflict):
    kind = "other_file"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"there is another file at {path}",
            hint="pass --yes to replace it; the other file is renamed, not deleted",
        )


@dataclass(frozen=True, slots=True)
class Restored:
    path: str
    is_written: bool
    """False if the same file was there already."""
    backup: str | None = None
    """The new path of the file that was there before, if any."""


def find(kept: KeptFiles, reference: str) -> str | None:
    """The kept session with this id; else the only one whose id, or agent's id, starts with it."""
    if reference in kept.files:
        return reference
    if len(reference) < SHORTEST_REFERENCE:
        return None
    matches = [
        session_id
        for session_id, file in kept.files.items()
        if session_id.startswith(reference.lower()) or _is_named(file.path, reference)
    ]
    return matches[0] if len(matches) == 1 else None


def restore(
    paths: IndexPaths,
    kept: KeptFiles,
    sources: Mapping[str, Source],
    session_id: str,
    now: datetime,
    may_replace: Callable[[str], bool],
) -> list[Restored]:
    """Restore the session's file, and those of its sub-agents.

    `may_replace` is called before a different file at the same path is renamed.
    """
    main = kept.files[session_id]
    files = [main, *_of_sub_agents(kept, sources, main)]
    return [_restore(paths.kept, file, sources, now, may_replace) for file in files]


def _restore(
    folder: Path,
    file: KeptFile,
    sources: Mapping[str, Source],
    now: datetime,
    may_replace: Callable[[str], bool],
) -> Restored:
    source = sources.get(file.source)
    current = file.path if source is None else source.location(file.path)
    backup = None
    if os.path.lexists(current):
        if file_copy.digest_of(current) == file.digest:
            return Restored(current, is_written=False)
        if not may_replace(current):
            raise OtherFile(current)
        backup = f"{current}.{now:%Y-%m-%dT%H%M%SZ}.bak"
    target = Path(file.path)
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            for block in file_copy.content(folder, file):
                out.write(block)
            out.flush()
            os.fsync(out.fileno())
        # Agents delete files by modification time. With the old one, it might be deleted tomorrow.
        os.utime(temporary, (now.timestamp(), now.timestamp()))
        if backup is not None:
            os.rename(current, backup)
        _move_without_replacing(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return Restored(file.path, is_written=True, backup=backup)


def _move_without_replacing(temporary: Path, target: Path) -> None:
    try:
        os.link(temporary, target)
    except FileExistsError as error:
        raise OtherFile(str(target)) from error
    except OSError:  # a file system without hard links
        os.rename(temporary, target)


def _of_sub_agents(
    kept: KeptFiles, sources: Mapping[str, Source], main: KeptFile
) -> list[KeptFile]:
    source = sources.get(main.source)
    if source is None:
        return []
    return [
        file
        for file in kept.files.values()
        if file.source == main.source and source.parent_path(file.path) == main.path
    ]


def _is_named(path: str, reference: str) -> bool:
    """Whether the file's name has `reference` at its start or after a dash."""
    stem = Path(path).stem
    return stem.startswith(reference) or f"-{reference}" in stem
