"""An index that an earlier version made, brought up to date.

When a source reads its files differently than before, they are all read anew, once. A session whose
file is gone stays as it is; it only gets the title that it would have now.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import datetime

from duckdb import DuckDBPyConnection

from navi.memory import database
from navi.memory.index_paths import Places
from navi.memory.ingest.derived.titles import stored_titles
from navi.memory.ingest.write.duckdb_writer import UNFINISHED
from navi.vendors.source import Source

FACT = "readers"
"""Under which the tables hold the version of each source that read its files."""


def apply(places: Places, sources: Mapping[str, Source], now: datetime) -> None:
    """Leaves everything that is to be done noted in the tables: a later run can go on with it."""
    wanted = {name: source.version for name, source in sources.items()}
    with database.reading(places) as connection:
        before = _versions(connection)
        if wanted.items() <= before.items():
            return
        changed = [name for name, version in wanted.items() if before.get(name, 1) != version]
        titles = stored_titles(connection, _untitled(connection, changed))
    with database.writing(places, now) as connection:
        connection.execute(
            "UPDATE sessions SET file_size = ? "
            "WHERE NOT is_archived AND source IN (SELECT unnest(?))",
            [UNFINISHED, changed],
        )
        for session, title in titles.items():
            connection.execute(
                "UPDATE sessions SET title = ?, texts_pending_from = 0 WHERE id = ?",
                [title, session],
            )
        connection.execute("DELETE FROM facts WHERE name = ?", [FACT])
        versions = json.dumps({**before, **wanted})
        connection.execute("INSERT INTO facts VALUES (?, ?)", [FACT, versions])


def _versions(connection: DuckDBPyConnection) -> dict[str, int]:
    row = connection.execute("SELECT value FROM facts WHERE name = ?", [FACT]).fetchone()
    found: dict[str, int] = json.loads(row[0]) if row is not None else {}
    return found


def _untitled(connection: DuckDBPyConnection, sources: list[str]) -> list[str]:
    """Sessions without a title that no file will give them."""
    rows = connection.execute(
        "SELECT id, source_path, is_archived FROM sessions "
        "WHERE coalesce(title, '') = '' AND source IN (SELECT unnest(?))",
        [sources],
    ).fetchall()
    return [id for id, path, is_archived in rows if is_archived or not os.path.exists(path)]
