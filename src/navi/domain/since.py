"""How far back to look, as people write it."""

from __future__ import annotations

from datetime import UTC, datetime

from navi.domain.errors import InvalidInput
from navi.domain.when import parse_duration

SINCE_FORMS = "7d, 24h, 30m, 1w or 2024-01-15T10:30:00"


def parse_since(text: str, now: datetime) -> datetime | None:
    """A duration before `now`, or a date with or without a time, in UTC unless it names a zone."""
    text = text.strip()
    try:
        return now - parse_duration(text.removesuffix(" ago"))
    except InvalidInput:
        pass
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
