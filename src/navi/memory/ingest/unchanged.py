"""Recognises unchanged session files without opening a database.

Each pass saves a list of the files as it indexed them. If the index has changed since, the list is
not valid, and DuckDB has to be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from navi.memory.hosts.host_source import with_received
from navi.memory.index_paths import IndexPaths
from navi.memory.index_settings import full_text_format
from navi.memory.ingest.plan import IndexedFile, IndexedFiles, Plan, make_plan
from navi.memory.resume import reader_versions
from navi.vendors.source import Source

VERSION = 3

IndexStamp = list[tuple[int, int, int] | None]
"""Inode, mtime and size of each file of the index; None for a missing file."""


class FileList(msgspec.Struct):
    version: int
    index_stamp: IndexStamp = msgspec.field(name="of")
    text_format: str = msgspec.field(name="texts")
    reader_versions: dict[str, int] = msgspec.field(name="readers")
    files: list[tuple[str, str, str, float, int, bool]]
    """`(source, path, *IndexedFile)`."""
    source_stamps: dict[str, str] = msgspec.field(name="stamps")


class Scan(NamedTuple):
    """The session files on disk compared with the saved file list."""

    index_stamp: IndexStamp
    indexed_files: IndexedFiles
    plan: Plan

    @property
    def nothing_changed(self) -> bool:
        return not (self.plan.changed or self.plan.vanished_ids or self.plan.returned_ids)


def scan(paths: IndexPaths, sources: Iterable[Source], fields: tuple[str, ...]) -> Scan | None:
    """Compare the files with the list. None if no list is valid for the index and `fields`."""
    try:
        saved = msgspec.json.decode(paths.file_list.read_bytes(), type=FileList)
    except (OSError, msgspec.DecodeError):
        return None
    expected = (VERSION, _index_stamp(paths), full_text_format(fields), reader_versions())
    if (saved.version, saved.index_stamp, saved.text_format, saved.reader_versions) != expected:
        return None
    indexed_files = {(row[0], row[1]): IndexedFile(*row[2:]) for row in saved.files}
    plan = make_plan(
        with_received(paths, sources), indexed_files, is_full=False, stamps=saved.source_stamps
    )
    return Scan(saved.index_stamp, indexed_files, plan)


def is_current(paths: IndexPaths, scan: Scan) -> bool:
    """Whether the index has not changed since the scan."""
    return scan.index_stamp == _index_stamp(paths)


def save_file_list(
    paths: IndexPaths,
    fields: tuple[str, ...],
    indexed_files: IndexedFiles,
    stamps: Mapping[str, str],
) -> None:
    """`stamps` are the sources' stamps from before the pass; empty after an unfinished pass."""
    rows = [
        (source, path, file.session_id, file.mtime, file.size, file.is_archived)
        for (source, path), file in indexed_files.items()
    ]
    value = FileList(
        VERSION,
        _index_stamp(paths),
        full_text_format(fields),
        reader_versions(),
        rows,
        dict(stamps),
    )
    temporary = paths.file_list.with_suffix(".tmp")
    try:
        temporary.write_bytes(msgspec.json.encode(value))
        os.replace(temporary, paths.file_list)
    except (OSError, UnicodeEncodeError):
        remove_file_list(paths)


def confirm(paths: IndexPaths) -> None:
    """Record that the index is up to date now."""
    with suppress(OSError):
        os.utime(paths.file_list)


def remove_file_list(paths: IndexPaths) -> None:
    paths.file_list.unlink(missing_ok=True)


def _index_stamp(paths: IndexPaths) -> IndexStamp:
    """Covers every file that changes when the index does."""
    return [
        _file_stamp(paths.database),
        _file_stamp(paths.write_ahead_log),
        _file_stamp(paths.texts / "meta.json"),
    ]


def _file_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
