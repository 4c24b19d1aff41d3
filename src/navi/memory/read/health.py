"""The state of the index, for `recall doctor`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duckdb import DuckDBPyConnection

from navi.memory import database
from navi.memory.file_damage import is_old
from navi.memory.index_paths import IndexPaths
from navi.memory.index_schema import IS_SESSION, has_hosts
from navi.memory.read import statistics


@dataclass(frozen=True, slots=True)
class DamagedFile:
    source: str
    path: str
    bad_lines: int
    numbers: tuple[int, ...]
    """The numbers of the first few bad lines; empty if the source counts no lines."""
    is_readable: bool
    """False if not one line can be read."""


@dataclass(frozen=True, slots=True)
class UnknownKind:
    """Lines of a kind that this version does not know and skips."""

    source: str
    kind: str
    lines: int
    files: int


@dataclass(frozen=True, slots=True)
class Health:
    sessions: int
    """Counted as in `recall list` and `recall stats`."""
    messages: int
    archived: int
    """Sessions whose file is gone."""
    silent_files: int
    """Undamaged files that don't count as sessions (`IS_SESSION`)."""
    pending: int
    """Sessions whose texts are not all in the full-text index."""
    indexed_at: datetime | None
    bytes: int
    damaged: tuple[DamagedFile, ...]
    cut_off: tuple[str, ...]
    """Files whose last line was never finished."""
    being_written: tuple[str, ...]
    """Files that end in an incomplete line and have just changed."""
    unknown: tuple[UnknownKind, ...]


def health(paths: IndexPaths, now: datetime) -> Health:
    with database.reading(paths) as connection:
        totals = connection.execute(
            f"SELECT count(*) FILTER ({IS_SESSION} AND is_archived), "
            f"count(*) FILTER (NOT ({IS_SESSION}) AND is_complete), "
            "count(texts_pending_from), max(indexed_at) FROM sessions"
        ).fetchone()
        assert totals is not None
        counts = statistics.overview(connection, statistics.Scope())
        # Damage to another machine's files is reported on that machine.
        own = "host IS NULL" if has_hosts(connection) else "true"
        incomplete = connection.execute(
            "SELECT source, source_path, bad_lines, mark, file_mtime FROM sessions "
            f"WHERE NOT is_complete AND {own} ORDER BY ALL"
        ).fetchall()
        unknown = tuple(_unknown(connection))
    archived, silent, pending, indexed_at = totals
    ending_in_incomplete_line = [
        (path, mtime)
        for _, path, bad_lines, mark, mtime in incomplete
        if not bad_lines or _session_in(mark).get("is_cut_off")
    ]
    return Health(
        counts["sessions"],
        counts["messages"],
        archived,
        silent,
        pending,
        indexed_at,
        paths.database.stat().st_size,
        tuple(_damaged(*row[:4]) for row in incomplete if row[2]),
        tuple(path for path, mtime in ending_in_incomplete_line if is_old(mtime, now)),
        tuple(path for path, mtime in ending_in_incomplete_line if not is_old(mtime, now)),
        unknown,
    )


def _damaged(source: str, path: str, bad_lines: int, mark: str) -> DamagedFile:
    session = _session_in(mark)
    numbers = tuple(session.get("bad_line_numbers") or ())
    return DamagedFile(source, path, bad_lines, numbers, session.get("is_readable", True))


def _session_in(mark: str) -> dict[str, Any]:
    """The session's state in a mark, if its source keeps one there."""
    try:
        session = json.loads(mark).get("session")
    except (ValueError, AttributeError):
        return {}
    return session if isinstance(session, dict) else {}


def _unknown(connection: DuckDBPyConnection) -> Iterable[UnknownKind]:
    counts: dict[tuple[str, str], tuple[int, int]] = {}
    for source, kinds in connection.execute(
        "SELECT source, unknown_kinds FROM sessions WHERE unknown_kinds <> '{}' ORDER BY source"
    ).fetchall():
        for kind, lines in json.loads(kinds).items():
            lines_before, files = counts.get((source, kind), (0, 0))
            counts[source, kind] = lines_before + lines, files + 1
    ordered = sorted(counts.items(), key=lambda each: (each[0][0], -each[1][0], each[0][1]))
    return [UnknownKind(*name, *count) for name, count in ordered]
