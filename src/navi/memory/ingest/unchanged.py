"""Recognises an unchanged disk without opening a database.

Each run leaves a list of the files as it indexed them. The list is valid only while the index files
themselves are the ones it was saved with; otherwise DuckDB has to be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from navi.memory.index_paths import Places
from navi.memory.index_settings import full_text_format
from navi.memory.ingest.plan import IndexedFile, IndexedFiles, Plan, make_plan
from navi.memory.resume import reader_versions
from navi.vendors.source import Source

VERSION = 3

Stamp = list[tuple[int, int, int] | None]


class FileList(msgspec.Struct):
    version: int
    of: Stamp
    texts: str
    readers: dict[str, int]
    files: list[tuple[str, str, str, float, int, bool]]
    stamps: dict[str, str]


class Scan(NamedTuple):
    """The disk compared with the saved file list."""

    stamp: Stamp
    indexed_files: IndexedFiles
    plan: Plan

    @property
    def nothing_changed(self) -> bool:
        return not (self.plan.changed or self.plan.vanished or self.plan.returned)


def scan(places: Places, sources: Iterable[Source], fields: tuple[str, ...]) -> Scan | None:
    """None if there is no file list, or it does not belong to this index."""
    try:
        saved = msgspec.json.decode(places.file_list.read_bytes(), type=FileList)
    except (OSError, msgspec.DecodeError):
        return None
    expected = (VERSION, _stamp(places), full_text_format(fields), reader_versions())
    if (saved.version, saved.of, saved.texts, saved.readers) != expected:
        return None
    indexed_files = {(row[0], row[1]): IndexedFile(*row[2:]) for row in saved.files}
    plan = make_plan(sources, indexed_files, is_full=False, stamps=saved.stamps)
    return Scan(saved.of, indexed_files, plan)


def is_current(places: Places, scan: Scan) -> bool:
    return scan.stamp == _stamp(places)


def save(
    places: Places,
    fields: tuple[str, ...],
    indexed_files: IndexedFiles,
    stamps: Mapping[str, str],
) -> None:
    """`stamps` are those of the sources that were read completely."""
    rows = [
        (source, path, file.id, file.mtime, file.size, file.is_archived)
        for (source, path), file in indexed_files.items()
    ]
    value = FileList(
        VERSION, _stamp(places), full_text_format(fields), reader_versions(), rows, dict(stamps)
    )
    temporary = places.file_list.with_suffix(".tmp")
    try:
        temporary.write_bytes(msgspec.json.encode(value))
        os.replace(temporary, places.file_list)
    except (OSError, UnicodeEncodeError):
        forget(places)


def confirm(places: Places) -> None:
    """Record that the index is up to date now."""
    with suppress(OSError):
        os.utime(places.file_list)


def forget(places: Places) -> None:
    places.file_list.unlink(missing_ok=True)


def _stamp(places: Places) -> Stamp:
    """Covers every file that changes when the index does."""
    return [
        _stamp_of(places.database),
        _stamp_of(places.write_ahead_log),
        _stamp_of(places.texts / "meta.json"),
    ]


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
