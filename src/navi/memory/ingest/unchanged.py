"""What changed, known from a note of the last run, without asking an engine.

The note is only a copy. It counts as long as the engines' files are the very ones it was made of;
otherwise DuckDB is asked.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from navi.memory.index_paths import Places
from navi.memory.index_settings import texts_made_of
from navi.memory.ingest.plan import Known, Plan, plan
from navi.memory.ingest.report import Refreshed
from navi.memory.resume import reader_versions
from navi.vendors.source import Source

VERSION = 3

Stamp = list[tuple[int, int, int] | None]


class Note(msgspec.Struct):
    version: int
    of: Stamp
    texts: str
    readers: dict[str, int]
    files: list[tuple[str, str, str, float, int, bool]]
    stamps: dict[str, str]


class Seen(NamedTuple):
    """What a look at the files says, if the note is true."""

    stamp: Stamp
    known: dict[tuple[str, str], Known]
    planned: Plan

    @property
    def nothing_changed(self) -> bool:
        return not (self.planned.changed or self.planned.vanished or self.planned.returned)

    def as_result(self) -> Refreshed:
        planned = self.planned
        return Refreshed(
            skipped=planned.skipped, total=planned.total, warnings=list(planned.warnings)
        )


def look(places: Places, sources: Iterable[Source], fields: tuple[str, ...]) -> Seen | None:
    """None if there is no note, or it no longer tells of this index."""
    try:
        found = msgspec.json.decode(places.known_files.read_bytes(), type=Note)
    except (OSError, msgspec.DecodeError):
        return None
    if (found.version, found.of, found.texts) != (VERSION, _stamp(places), texts_made_of(fields)):
        return None
    if found.readers != reader_versions():
        return None
    known = {(row[0], row[1]): Known(*row[2:]) for row in found.files}
    return Seen(found.of, known, plan(sources, known, is_full=False, stamps=found.stamps))


def is_still_true(places: Places, seen: Seen) -> bool:
    return seen.stamp == _stamp(places)


def note(
    places: Places,
    fields: tuple[str, ...],
    known: Mapping[tuple[str, str], Known],
    stamps: Mapping[str, str],
) -> None:
    """The files as the index has them, and the stamps of sources that were read whole."""
    rows = [
        (source, path, each.id, each.mtime, each.size, each.is_archived)
        for (source, path), each in known.items()
    ]
    value = Note(
        VERSION, _stamp(places), texts_made_of(fields), reader_versions(), rows, dict(stamps)
    )
    temporary = places.known_files.with_suffix(".tmp")
    try:
        temporary.write_bytes(msgspec.json.encode(value))
        os.replace(temporary, places.known_files)
    except (OSError, UnicodeEncodeError):
        forget(places)


def confirm(places: Places) -> None:
    """The index was found to be up to date just now."""
    with suppress(OSError):
        os.utime(places.known_files)


def forget(places: Places) -> None:
    places.known_files.unlink(missing_ok=True)


def _stamp(places: Places) -> Stamp:
    """Of every file that a change of the index changes."""
    return [
        _stamp_of(places.database),
        _stamp_of(places.write_ahead_log),
        _stamp_of(places.texts / "meta.json"),
    ]


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
