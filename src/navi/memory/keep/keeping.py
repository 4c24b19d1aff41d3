"""Keeps session files: copies them, follows them as they grow, and stops keeping them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from navi.base.errors import NaviError
from navi.memory.index_paths import IndexPaths
from navi.memory.ingest.plan import IndexedFiles
from navi.memory.keep import kept_files
from navi.memory.keep.file_copy import copy_file
from navi.memory.keep.keep_setting import keeps_all
from navi.memory.keep.kept_files import KeptFile, KeptFiles
from navi.vendors.source import Source

MOST_SINGLE_FLUSHES = 20
"""More copies than this are flushed faster by flushing everything at once."""


@dataclass(slots=True)
class KeepResult:
    copied: int = 0
    unfinished: int = 0
    """Files that a time limit left for the next pass."""
    warnings: list[str] = field(default_factory=list)


def is_behind(paths: IndexPaths, sources: Mapping[str, Source], files: IndexedFiles) -> bool:
    """Whether there is anything to copy. Opens only the list of kept files."""
    try:
        is_all = keeps_all()
        if not is_all and not paths.kept.exists():
            return False
        return any(_to_copy(kept_files.load(paths), sources, files, is_all))
    except NaviError:
        return True  # `follow` reports what is wrong


def follow(
    paths: IndexPaths,
    sources: Mapping[str, Source],
    files: IndexedFiles,
    time_limit_seconds: float | None = None,
) -> KeepResult:
    """Update the copies of files that have grown, and copy files that have no copy yet.

    `files` are those of the index. The caller holds the index's lock.
    """
    result = KeepResult()
    try:
        is_all = keeps_all()
        if not is_all and not paths.kept.exists():
            return result
        kept = kept_files.load(paths)
        to_copy = list(_to_copy(kept, sources, files, is_all))
        _copy(paths, kept, sources, to_copy, time_limit_seconds, result)
    except NaviError as error:
        result.warnings.append(f"kept sessions were not updated: {error.message}")
    return result


def keep(
    paths: IndexPaths,
    sources: Mapping[str, Source],
    chosen: Collection[tuple[str, str, str]],
    on_progress: Callable[[int], None] = lambda _: None,
) -> KeepResult:
    """Keep these sessions (id, source, path) from now on. The caller holds the index's lock.

    `on_progress` gets the number of files done.
    """
    kept = kept_files.load(paths)
    kept.refused -= {session_id for session_id, _, _ in chosen}
    result = KeepResult()
    _copy(paths, kept, sources, chosen, None, result, is_changed=True, on_progress=on_progress)
    return result


def stop(
    paths: IndexPaths, sources: Mapping[str, Source], session_ids: Collection[str]
) -> list[KeptFile]:
    """Delete the copies of these sessions and of their sub-agents. Returns the deleted ones.

    Sessions that the next pass would keep again are refused from now on. The caller holds
    the index's lock.
    """
    kept = kept_files.load(paths)
    stopped_paths = {
        (each.source, each.path) for id, each in kept.files.items() if id in session_ids
    }
    ids = [
        *session_ids,
        *(id for id, file in kept.files.items() if _parent(sources, file) in stopped_paths),
    ]
    removed = {id: kept.files.pop(id) for id in ids if id in kept.files}
    kept_paths = {(each.source, each.path) for each in kept.files.values()}
    refused = {
        id
        for id in ids
        if keeps_all() or (id in removed and _parent(sources, removed[id]) in kept_paths)
    }
    kept.refused |= refused
    if removed or refused:
        paths.kept.mkdir(mode=0o700, exist_ok=True)
        kept_files.save(paths, kept)
    return list(removed.values())


def _parent(sources: Mapping[str, Source], file: KeptFile) -> tuple[str, str] | None:
    """The source and path of the session that a sub-agent's file belongs to."""
    source = sources.get(file.source)
    path = None if source is None else source.parent_path(file.path)
    return None if path is None else (file.source, path)


def _to_copy(
    kept: KeptFiles, sources: Mapping[str, Source], files: IndexedFiles, is_all: bool
) -> Iterator[tuple[str, str, str]]:
    """The files (session id, source, path) without a copy, or with an outdated one."""
    kept_paths = {(each.source, each.path) for each in kept.files.values()}
    for (name, path), file in files.items():
        source = sources.get(name)
        if file.is_archived or source is None or not source.has_session_files:
            continue
        before = kept.files.get(file.session_id)
        if before is None:
            if file.session_id in kept.refused:
                continue
            if not is_all and (name, source.parent_path(path)) not in kept_paths:
                continue
        elif (before.mtime, before.size) == (file.mtime, file.size):
            continue
        yield file.session_id, name, path


def _copy(
    paths: IndexPaths,
    kept: KeptFiles,
    sources: Mapping[str, Source],
    to_copy: Collection[tuple[str, str, str]],
    time_limit_seconds: float | None,
    result: KeepResult,
    *,
    is_changed: bool = False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> None:
    if not to_copy and not is_changed:
        return
    paths.kept.mkdir(mode=0o700, exist_ok=True)
    names: list[str] = []
    limit = time.monotonic() + (inf if time_limit_seconds is None else time_limit_seconds)
    for number, (session_id, name, path) in enumerate(to_copy):
        on_progress(number)
        if time.monotonic() > limit:
            result.unfinished += 1
            continue
        before = kept.files.get(session_id)
        try:
            location = sources[name].location(path)
            after = copy_file(paths.kept, session_id, name, path, location, before)
        except FileNotFoundError:
            continue  # deleted a moment ago; any copy of it stays
        except OSError as error:
            reason = error.strerror or str(error)
            result.warnings.append(f"{path}: can't be kept: {reason}")
            continue
        if after is not before:
            kept.files[session_id] = after
            names.append(after.copy)
            is_changed = True
    result.copied = len(names)
    if is_changed:
        try:
            _flush(paths, names)
            kept_files.save(paths, kept)
        except OSError as error:
            result.warnings.append(f"{paths.kept}: can't be written: {error.strerror}")


def _flush(paths: IndexPaths, names: Collection[str]) -> None:
    """Write new copies to the disk before the list names them."""
    if len(names) > MOST_SINGLE_FLUSHES:
        os.sync()
        return
    for name in names:
        descriptor = os.open(paths.kept / name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def bytes_in(kept: KeptFiles) -> tuple[int, int]:
    """The total sizes of the kept files and of their copies."""
    return (
        sum(each.size for each in kept.files.values()),
        sum(each.copy_size for each in kept.files.values()),
    )


def is_gone(kept: KeptFile, source: Source | None) -> bool:
    """Whether the original was deleted."""
    return not os.path.exists(kept.path if source is None else source.location(kept.path))
