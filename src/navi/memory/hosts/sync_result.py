"""The result of a sync."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class SyncResult:
    """`sent` and `received` count sessions, new ones and later revisions."""

    sent: int = 0
    received: int = 0
    refused: list[str] = field(default_factory=list)
    """Sessions that were not accepted, and why."""
    peer_id: str | None = None
    """The machine at the other end; None for a folder."""
    host_ids: set[str] = field(default_factory=set)
    """The machines whose sessions the peer has."""
