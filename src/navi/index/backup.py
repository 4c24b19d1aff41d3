"""Starting over: the old index is kept beside the new one, under the date.

What no file can give back goes along into the new one: tags, and sessions whose file is gone.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import duckdb

from navi.index import database, schema, texts
from navi.index.errors import IndexUnusable
from navi.index.places import Places


def start_over(places: Places, now: datetime) -> list[str]:
    """Leaves a new index with what had to be kept; gives warnings about what could not be."""
    if not places.database.exists():
        return []
    beside = Places(f"{places.path}.new")
    _remove(beside)
    warnings = []
    try:
        _carry_over(places, beside, now)
    except (IndexUnusable, duckdb.Error):
        _remove(beside)
        with database.writing(beside, now):
            pass
        warnings.append(
            "the old index can't be read: its tags, and sessions whose file is gone, stay behind"
        )
    kept = places.database.with_name(f"{places.database.name}.{now:%Y-%m-%dT%H%M%SZ}.bak")
    os.replace(places.database, kept)
    if places.write_ahead_log.exists():
        os.replace(places.write_ahead_log, f"{kept}.wal")
    os.replace(beside.database, places.database)
    texts.remove(places.texts)
    if warnings:
        warnings[0] += f" in {kept}"
    return warnings


def finish_interrupted(places: Places) -> None:
    """A process may have been killed between the two renames."""
    beside = Places(f"{places.path}.new")
    if beside.database.exists() and not places.database.exists():
        os.replace(beside.database, places.database)


def _carry_over(places: Places, beside: Places, now: datetime) -> None:
    with database.reading(places) as connection:  # refuses a file of another version
        paths = connection.execute("SELECT id, source_path FROM sessions").fetchall()
    gone = [session for session, path in paths if not os.path.exists(path)]
    with database.writing(beside, now) as connection:
        connection.execute(f"ATTACH '{_quoted(places.database)}' AS old (READ_ONLY)")
        connection.execute("INSERT INTO tags SELECT * FROM old.tags")
        for table in ("messages", "tool_calls", "usages"):
            connection.execute(
                f"INSERT INTO {table} SELECT * FROM old.{table} "
                "WHERE session_id IN (SELECT unnest(?))",
                [gone],
            )
        names = ", ".join(name for name, _ in schema.SESSIONS)
        connection.execute(
            f"INSERT INTO sessions ({names}) SELECT {names} FROM old.sessions "
            "WHERE id IN (SELECT unnest(?))",
            [gone],
        )
        connection.execute("UPDATE sessions SET is_archived = true, texts_pending_from = 0")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


def _remove(places: Places) -> None:
    places.database.unlink(missing_ok=True)
    places.write_ahead_log.unlink(missing_ok=True)
