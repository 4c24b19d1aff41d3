"""How the index is: for `recall doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from navi.index import database
from navi.index.places import Places


@dataclass(frozen=True, slots=True)
class Health:
    sessions: int
    messages: int
    archived: int
    """Sessions whose file is gone."""
    pending: int
    """Sessions that the full-text does not fully have."""
    indexed_at: datetime | None
    bytes: int


def health(places: Places) -> Health:
    with database.reading(places) as connection:
        row = connection.execute(
            "SELECT count(*), coalesce(sum(message_count), 0)::BIGINT, "
            "count(*) FILTER (is_archived), count(texts_pending_from), max(indexed_at) "
            "FROM sessions"
        ).fetchone()
    assert row is not None
    sessions, messages, archived, pending, indexed_at = row
    size = places.database.stat().st_size
    return Health(sessions, messages, archived, pending, indexed_at, size)
