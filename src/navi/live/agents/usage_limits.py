"""Recognises vendors' usage-limit errors."""

from __future__ import annotations

import re
from datetime import UTC, datetime

STATUSES = frozenset({429, 529})
_PHRASES = re.compile(
    r"\busage limit\b|\bhit your (?:\S+ )?limit\b|\blimit reached\b|\brate[ _-]limit|"
    r"\btoo many requests\b|\boverloaded|\bat capacity\b|\bquota exceeded\b|"
    r"\b(?:API Error:|status:?|HTTP|rejected) \(?(?:429|529)\b",
    re.IGNORECASE,
)


def is_usage_limit(status: object, message: str) -> bool:
    """Whether an error is a usage limit, judging by its HTTP status or else its message."""
    return status in STATUSES if isinstance(status, int) else bool(_PHRASES.search(message))


def instant_of(epoch_seconds: object) -> datetime | None:
    """The instant in UTC; None if the value is not a valid time."""
    if not isinstance(epoch_seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(epoch_seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
