"""Tags that people give to sessions.

They are stored in DuckDB. Lists read a copy, which is rewritten after each change and whenever an
index run opens DuckDB.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime

from duckdb import DuckDBPyConnection

from navi.base.control_characters import CONTROL_CHARACTER
from navi.base.errors import InvalidInput
from navi.memory.database import Writer
from navi.memory.index_paths import Places
from navi.memory.index_schema import naive
from navi.memory.read.session_lookup import resolve

_TAG = re.compile(r"[^\s,#]{1,64}")


def change(
    places: Places, id: str, tags: Sequence[str], now: datetime, *, is_added: bool
) -> tuple[str, list[str]]:
    """Add or remove tags. Returns the session's full id and its tags."""
    writer = Writer(places, is_kept_open=True)
    with closing(writer):
        with writer.transaction(now) as connection:
            session = resolve(connection, id)
            if is_added:
                add(connection, session, tags, now)
            else:
                remove(connection, session, tags)
            remaining = tags_of(connection, session)
        # After the commit, so that the copy is never ahead; before the file is closed, so that two
        # processes can't overwrite each other's copy.
        save_copy(connection, places)
    return session, remaining


def add(connection: DuckDBPyConnection, session: str, tags: Sequence[str], now: datetime) -> None:
    for tag in map(_validated, tags):
        remove(connection, session, [tag])
        connection.execute("INSERT INTO tags VALUES (?, ?, ?)", [session, tag, naive(now)])


def remove(connection: DuckDBPyConnection, session: str, tags: Sequence[str]) -> None:
    for tag in map(_validated, tags):
        connection.execute("DELETE FROM tags WHERE session_id = ? AND tag = ?", [session, tag])


def tags_of(connection: DuckDBPyConnection, session: str) -> list[str]:
    rows = connection.execute(
        "SELECT tag FROM tags WHERE session_id = ? ORDER BY tag", [session]
    ).fetchall()
    return [row[0] for row in rows]


def save_copy(connection: DuckDBPyConnection, places: Places) -> None:
    """Write the copy of all tags that lists read."""
    rows = connection.execute(
        "SELECT session_id, list(tag ORDER BY tag) FROM tags GROUP BY ALL"
    ).fetchall()
    if not rows:
        places.tags.unlink(missing_ok=True)
        return
    temporary = places.tags.with_suffix(".tags.tmp")
    temporary.write_text(json.dumps(dict(rows)))
    os.replace(temporary, places.tags)


def _validated(tag: str) -> str:
    tag = tag.removeprefix("#")
    if _TAG.fullmatch(tag) is None or CONTROL_CHARACTER.search(tag) is not None:
        raise InvalidInput(
            f"{tag!r} is not a valid tag",
            hint="use one word of at most 64 characters, without commas, # or control characters",
        )
    return tag
