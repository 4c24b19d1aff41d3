"""What to exchange with a peer."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SyncRequest:
    since: datetime | None = None
    """Only sessions with something that happened after this time."""
    is_masked: bool = False
    """Whether to mask secrets in the sessions that are sent."""
    sends: bool = True
    receives: bool = True
    is_dry_run: bool = False
