"""Brings an index made by an earlier version up to date.

Tables that it lacks are created. When a source's reader has changed, all its files are read again,
once. A session whose file is gone stays as it is, but gets a title if it has none.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime

from duckdb import DuckDBPyConnection

from navi.memory import database, index_schema
from navi.memory.index_paths import IndexPaths
from navi.memory.ingest.derived.titles import stored_titles
from navi.memory.ingest.write.duckdb_writer import UNFINISHED
from navi.vendors.source import Source

FACT = "readers"
"""The row of `facts` with the version of each source's reader."""


def apply(paths: IndexPaths, sources: Mapping[str, Source], now: datetime) -> None:
    """Mark in the tables which files to read again, so that any later pass can do it."""
    current = {name: source.version for name, source in sources.items()}
    with database.reading(paths) as connection:
        previous = _versions(connection)
        if current.items() <= previous.items():
            return
        changed_sources = [
            name for name, version in current.items() if previous.get(name, 1) != version
        ]
        titles = stored_titles(connection, _untitled(connection, changed_sources))
    with database.writing(paths, now) as connection:
        index_schema.create_missing_tables(connection)
        connection.execute(
            "UPDATE sessions SET file_size = ? "
            f"WHERE NOT is_archived AND {index_schema.READER} IN (SELECT unnest(?))",
            [UNFINISHED, changed_sources],
        )
        for session_id, title in titles.items():
            connection.execute(
                "UPDATE sessions SET title = ?, texts_pending_from = 0 WHERE id = ?",
                [title, session_id],
            )
        connection.execute("DELETE FROM facts WHERE name = ?", [FACT])
        versions = json.dumps({**previous, **current})
        connection.execute("INSERT INTO facts VALUES (?, ?)", [FACT, versions])


def _versions(connection: DuckDBPyConnection) -> dict[str, int]:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", [FACT]).fetchone()
    versions: dict[str, int] = json.loads(row[0]) if row is not None else {}
    return versions


def _untitled(connection: DuckDBPyConnection, sources: list[str]) -> list[str]:
    """Sessions that have no title and no file to get one from."""
    rows = connection.execute(
        "SELECT id, source_path, is_archived FROM sessions "
        "WHERE coalesce(title, '') = '' AND source IN (SELECT unnest(?))",
        [sources],
    ).fetchall()
    return [id for id, path, is_archived in rows if is_archived or not os.path.exists(path)]
