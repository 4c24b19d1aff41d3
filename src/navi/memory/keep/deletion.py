"""Which sessions their agents are about to delete."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from navi.memory.model import SessionFile
from navi.vendors.source import Source

WARNING_TIME = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Deletion:
    """When an agent deletes its session files, and how many of them are not kept."""

    after: timedelta
    files: int
    """How many session files there are, without those of sub-agents."""
    unkept: int
    soon: int
    """How many of the unkept ones the agent will delete within `WARNING_TIME`."""
    first_at: datetime | None
    """When the agent will delete the first of the unkept ones."""


def deletion(
    source: Source, files: Iterable[SessionFile], kept_paths: Collection[str], now: datetime
) -> Deletion | None:
    """None if the agent deletes nothing."""
    after = source.deletes_after()
    if after is None:
        return None
    sessions = [file for file in files if source.parent_path(file.path) is None]
    deletion_times = sorted(
        datetime.fromtimestamp(file.mtime, UTC) + after
        for file in sessions
        if file.path not in kept_paths
    )
    return Deletion(
        after,
        len(sessions),
        len(deletion_times),
        sum(moment <= now + WARNING_TIME for moment in deletion_times),
        deletion_times[0] if deletion_times else None,
    )
