"""Recognises vendors' usage-limit errors."""

from __future__ import annotations

import re
from datetime import UTC, datetime

STATUSES = frozenset({429, 529})
_WORDS = re.compile(
    r"\busage limit\b|\bhit your (?:\S+ )?limit\b|\blimit reached\b|\brate[ _-]limit|"
    r"\btoo many requests\b|\boverloaded|\bat capacity\b|\bquota exceeded\b|"
    r"\b(?:API Error:|status:?|HTTP|rejected) \(?(?:429|529)\b",
    re.IGNORECASE,
)


def is_limit(status: object, words: str) -> bool:
    """Decide by the HTTP status if there is one, otherwise by the error's text."""
    return status in STATUSES if isinstance(status, int) else bool(_WORDS.search(words))


def instant_of(epoch_seconds: object) -> datetime | None:
    """None if the value is not a valid time."""
    if not isinstance(epoch_seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(epoch_seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
