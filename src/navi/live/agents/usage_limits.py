"""Recognises vendors' usage-limit errors."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from navi.live.model.usage_limit import UNNAMED_KIND

TOO_MANY_REQUESTS, OVERLOADED = 429, 529
USAGE_LIMIT_STATUSES = frozenset({TOO_MANY_REQUESTS, OVERLOADED})
_OVERLOAD = re.compile(r"\boverloaded|\bat capacity\b|\b529\b", re.IGNORECASE)
_PHRASES = re.compile(
    r"\busage limit\b|\bhit your (?:\S+ )?limit\b|\blimit reached\b|\brate[ _-]limit|"
    r"\btoo many requests\b|\boverloaded|\bat capacity\b|\bquota exceeded\b|"
    r"\b(?:API Error:|status:?|HTTP|rejected) \(?(?:429|529)\b",
    re.IGNORECASE,
)


def is_usage_limit(status: object, message: str) -> bool:
    """Whether an error is a usage limit, by its HTTP status or, if it has none, its message."""
    return (
        status in USAGE_LIMIT_STATUSES
        if isinstance(status, int)
        else bool(_PHRASES.search(message))
    )


def limit_kind(status: object, message: str) -> str:
    """The kind of usage limit that an error reports; `UNNAMED_KIND` if it names none."""
    if status == OVERLOADED or (status is None and _OVERLOAD.search(message)):
        return "overload"
    return "requests" if status == TOO_MANY_REQUESTS else UNNAMED_KIND


def instant_of(epoch_seconds: object) -> datetime | None:
    """The instant in UTC; None if the value is not a valid time."""
    if not isinstance(epoch_seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(epoch_seconds, UTC)
    except (OverflowError, ValueError, OSError):
        return None
