"""How old the index is, and how much there is to read. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from navi.memory.index_paths import Places
from navi.memory.ingest import index_lock, unchanged
from navi.memory.ingest.unchanged import Scan
from navi.vendors.source import Source

FOLLOWER_TRUST = timedelta(seconds=90)
"""A follower checks the files every 30 seconds; without a check for this long, it is stuck."""
QUICK_BYTES = 16 * 1024 * 1024
"""About half a second of reading on a slow machine."""


@dataclass(frozen=True, slots=True)
class Freshness:
    refreshed_at: datetime | None
    """When the index was last up to date."""
    is_followed: bool
    """A server or `recall watch` updates the index whenever a file changes."""
    scan: Scan | None = None
    """None if the files were not checked, or there was no valid file list to compare them with."""

    @property
    def is_up_to_date(self) -> bool:
        return self.is_followed or (self.scan is not None and self.scan.nothing_changed)

    @property
    def is_quick_to_refresh(self) -> bool:
        """Whether a person can wait while the new lines are indexed."""
        return self.scan is not None and bytes_to_read(self.scan) <= QUICK_BYTES


def freshness(
    places: Places, sources: Mapping[str, Source], fields: tuple[str, ...], now: datetime
) -> Freshness:
    """Does not check the files of an index that is followed: its follower does that."""
    refreshed_at = last_refresh(places)
    if (
        refreshed_at is not None
        and now - refreshed_at < FOLLOWER_TRUST
        and index_lock.is_held(places.follower)
    ):
        return Freshness(refreshed_at, is_followed=True)
    scan = unchanged.scan(places, sources.values(), fields)
    return Freshness(refreshed_at, is_followed=False, scan=scan)


def last_refresh(places: Places) -> datetime | None:
    # Without a file list, the last full-text commit is the best guess.
    for path in (places.file_list, places.texts / "meta.json"):
        try:
            return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
        except FileNotFoundError:
            continue
    return None


def bytes_to_read(scan: Scan) -> int:
    """How much a pass would read; of a file that grew, only the new part."""
    total = 0
    for _, source, file in scan.plan.changed:
        existing = scan.indexed_files.get((source, file.path))
        already_read = (
            existing.size if existing is not None and 0 <= existing.size <= file.size else 0
        )
        total += file.size - already_read
    return total
