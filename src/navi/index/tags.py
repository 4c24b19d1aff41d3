"""Words that people give to sessions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from duckdb import DuckDBPyConnection

from navi.domain.errors import InvalidInput
from navi.index.listing import naive

_TAG = re.compile(r"[^\s,#]{1,64}")


def add(connection: DuckDBPyConnection, session: str, tags: Sequence[str], now: datetime) -> None:
    for tag in map(_checked, tags):
        remove(connection, session, [tag])
        connection.execute("INSERT INTO tags VALUES (?, ?, ?)", [session, tag, naive(now)])


def remove(connection: DuckDBPyConnection, session: str, tags: Sequence[str]) -> None:
    for tag in map(_checked, tags):
        connection.execute("DELETE FROM tags WHERE session_id = ? AND tag = ?", [session, tag])


def of(connection: DuckDBPyConnection, session: str) -> list[str]:
    rows = connection.execute(
        "SELECT tag FROM tags WHERE session_id = ? ORDER BY tag", [session]
    ).fetchall()
    return [row[0] for row in rows]


def _checked(tag: str) -> str:
    tag = tag.removeprefix("#")
    if _TAG.fullmatch(tag) is None:
        raise InvalidInput(
            f"{tag!r} can't be a tag", hint="one word of at most 64 characters, without comma or #"
        )
    return tag
