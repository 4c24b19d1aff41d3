"""How old the index is, and what it would take to bring it up to date. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from navi.memory.index_paths import Places
from navi.memory.ingest import index_lock, unchanged
from navi.memory.ingest.unchanged import Seen
from navi.vendors.source import Source

TRUSTED = timedelta(seconds=90)
"""A follower looks at the files every 30 seconds; one that has not for so long can't."""
QUICK_BYTES = 16 * 1024 * 1024
"""About half a second of reading on a slow machine."""


@dataclass(frozen=True, slots=True)
class Freshness:
    refreshed_at: datetime | None
    """When the index last held everything there was."""
    is_followed: bool
    """A server, or `recall watch`, brings it up to date whenever a file changes."""
    seen: Seen | None = None
    """What a look at the files showed; None if nobody looked, or only the index itself knows."""

    @property
    def is_up_to_date(self) -> bool:
        return self.is_followed or (self.seen is not None and self.seen.nothing_changed)

    @property
    def is_quickly_done(self) -> bool:
        """Whether what is new can be indexed while somebody waits for an answer."""
        return self.seen is not None and bytes_to_read(self.seen) <= QUICK_BYTES


def freshness(
    places: Places, sources: Mapping[str, Source], fields: tuple[str, ...], now: datetime
) -> Freshness:
    """An index that is followed is not compared with the files: its follower does that."""
    refreshed_at = last_refresh(places)
    if (
        refreshed_at is not None
        and now - refreshed_at < TRUSTED
        and index_lock.is_held(places.follower)
    ):
        return Freshness(refreshed_at, is_followed=True)
    seen = unchanged.look(places, sources.values(), fields)
    return Freshness(refreshed_at, is_followed=False, seen=seen)


def last_refresh(places: Places) -> datetime | None:
    # The note is written after each run; without it, the last commit of texts is the best guess.
    for path in (places.known_files, places.texts / "meta.json"):
        try:
            return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
        except FileNotFoundError:
            continue
    return None


def bytes_to_read(seen: Seen) -> int:
    """Of files that grew only the rest is read."""
    total = 0
    for _, source, file in seen.planned.changed:
        known = seen.known.get((source, file.path))
        already_read = known.size if known is not None and 0 <= known.size <= file.size else 0
        total += file.size - already_read
    return total
