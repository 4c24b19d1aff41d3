"""How old the index is, and how much there is to read. Writes nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from navi.memory.index_paths import IndexPaths
from navi.memory.ingest import index_lock, unchanged
from navi.memory.ingest.unchanged import Scan
from navi.vendors.source import Source

FOLLOWER_STUCK_AFTER = timedelta(seconds=90)
"""A follower (see `is_followed`) checks the files every 30 seconds, unless it is stuck."""
QUICK_BYTES = 16 * 1024 * 1024
"""About half a second of reading on a slow machine."""


@dataclass(frozen=True, slots=True)
class Freshness:
    refreshed_at: datetime | None
    """When the index was last up to date; None if there is no index."""
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
    paths: IndexPaths, sources: Mapping[str, Source], fields: tuple[str, ...], now: datetime
) -> Freshness:
    """How fresh the index is. The files are not checked if a follower does that."""
    refreshed_at = last_refresh(paths)
    if (
        refreshed_at is not None
        and now - refreshed_at < FOLLOWER_STUCK_AFTER
        and index_lock.is_held(paths.follower)
    ):
        return Freshness(refreshed_at, is_followed=True)
    scan = unchanged.scan(paths, sources.values(), fields)
    return Freshness(refreshed_at, is_followed=False, scan=scan)


def last_refresh(paths: IndexPaths) -> datetime | None:
    # Without a file list, the last full-text commit is the best guess.
    for path in (paths.file_list, paths.texts / "meta.json"):
        try:
            return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
        except FileNotFoundError:
            continue
    return None


def bytes_to_read(scan: Scan) -> int:
    """How many bytes a pass would read: only the new part of a file that grew."""
    total = 0
    for _, source, file in scan.plan.changed:
        existing = scan.indexed_files.get((source, file.path))
        already_read = (
            existing.size if existing is not None and 0 <= existing.size <= file.size else 0
        )
        total += file.size - already_read
    return total
