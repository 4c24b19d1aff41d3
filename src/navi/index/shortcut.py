"""Nothing changed: known from a note of the last run, without opening an engine.

The note is only a copy. It counts as long as the engines' files are the very ones it was made of;
otherwise, or if there is anything to do, DuckDB is asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from navi.index.outcome import Refreshed
from navi.index.places import Places
from navi.index.plan import Known, plan
from navi.sources.source import Source

VERSION = 1


def nothing_changed(
    places: Places, sources: Iterable[Source], fields: tuple[str, ...]
) -> Refreshed | None:
    """The result of a run that has nothing to do; None if there may be something."""
    known = _read(places, fields)
    if known is None:
        return None
    planned = plan(sources, known, is_full=False)
    if planned.changed or planned.vanished or planned.returned:
        return None
    return Refreshed(skipped=planned.skipped, total=planned.total, warnings=list(planned.warnings))


def note(places: Places, fields: tuple[str, ...], known: Mapping[tuple[str, str], Known]) -> None:
    """After a run that left nothing undone."""
    rows = [
        (source, path, each.id, each.mtime, each.size, each.is_archived)
        for (source, path), each in known.items()
    ]
    value = {"version": VERSION, "of": _stamp(places), "fields": fields, "files": rows}
    temporary = places.known_files.with_suffix(".tmp")
    try:
        temporary.write_text(json.dumps(value))
        os.replace(temporary, places.known_files)
    except (OSError, UnicodeEncodeError):
        forget(places)


def forget(places: Places) -> None:
    places.known_files.unlink(missing_ok=True)


def _read(places: Places, fields: tuple[str, ...]) -> dict[tuple[str, str], Known] | None:
    try:
        value = json.loads(places.known_files.read_text())
        if (value["version"], value["of"], value["fields"]) != (
            VERSION,
            _stamp(places),
            list(fields),
        ):
            return None
        return {(row[0], row[1]): Known(*row[2:]) for row in value["files"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _stamp(places: Places) -> list[list[int] | None]:
    """Of every file that a change of the index changes."""
    return [
        _stamp_of(places.database),
        _stamp_of(places.write_ahead_log),
        _stamp_of(places.texts / "meta.json"),
    ]


def _stamp_of(path: Path) -> list[int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return [found.st_ino, found.st_mtime_ns, found.st_size]
