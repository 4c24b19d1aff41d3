"""How old something may be, as people say it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

SINCE_FORMS = "7d, 24h, 30m, 1w or 2024-01-15T10:30:00"
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_since(text: str, now: datetime) -> datetime | None:
    """`7d`, `24h`, `30m`, `1w`, or a date with or without a time, in UTC unless it says else."""
    try:
        if found := re.fullmatch(r"(\d{1,6})([mhdw])", text.strip().lower()):
            return now - timedelta(**{_UNITS[found[2]]: int(found[1])})
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
