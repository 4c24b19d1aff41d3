"""Tags that people give to sessions.

They are stored in DuckDB. Lists read a copy, which is rewritten after each change and whenever a
pass compares DuckDB with the disk.
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
from navi.memory.index_paths import IndexPaths
from navi.memory.index_schema import naive
from navi.memory.read.session_lookup import resolve

_TAG = re.compile(r"[^\s,#]{1,64}")


def change(
    paths: IndexPaths, reference: str, tags: Sequence[str], now: datetime, *, is_added: bool
) -> tuple[str, list[str]]:
    """Add the tags if `is_added`, else remove them. Returns the session's full id and tags."""
    writer = Writer(paths, is_kept_open=True)
    with closing(writer):
        with writer.transaction(now) as connection:
            session_id = resolve(connection, reference)
            if is_added:
                add(connection, session_id, tags, now)
            else:
                remove(connection, session_id, tags)
            all_tags = tags_of(connection, session_id)
        # After the commit, so that the copy is never ahead; before the file is closed, so that two
        # processes can't overwrite each other's copy.
        save_copy(connection, paths)
    return session_id, all_tags


def add(
    connection: DuckDBPyConnection, session_id: str, tags: Sequence[str], now: datetime
) -> None:
    for tag in map(_validated, tags):
        remove(connection, session_id, [tag])
        connection.execute("INSERT INTO tags VALUES (?, ?, ?)", [session_id, tag, naive(now)])


def remove(connection: DuckDBPyConnection, session_id: str, tags: Sequence[str]) -> None:
    for tag in map(_validated, tags):
        connection.execute("DELETE FROM tags WHERE session_id = ? AND tag = ?", [session_id, tag])


def tags_of(connection: DuckDBPyConnection, session_id: str) -> list[str]:
    rows = connection.execute(
        "SELECT tag FROM tags WHERE session_id = ? ORDER BY tag", [session_id]
    ).fetchall()
    return [row[0] for row in rows]


def save_copy(connection: DuckDBPyConnection, paths: IndexPaths) -> None:
    """Write the copy of all tags that lists read."""
    rows = connection.execute(
        "SELECT session_id, list(tag ORDER BY tag) FROM tags GROUP BY ALL"
    ).fetchall()
    if not rows:
        paths.tags.unlink(missing_ok=True)
        return
    temporary = paths.tags.with_suffix(".tags.tmp")
    temporary.write_text(json.dumps(dict(rows)))
    os.replace(temporary, paths.tags)


def _validated(tag: str) -> str:
    tag = tag.removeprefix("#")
    if _TAG.fullmatch(tag) is None or CONTROL_CHARACTER.search(tag) is not None:
        raise InvalidInput(
            f"{tag!r} is not a valid tag",
            hint="use one word of at most 64 characters, without commas, # or control characters",
        )
    return tag
