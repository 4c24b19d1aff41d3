"""Instants as text for other programs, as numbers, and as ages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

_MINUTE, _HOUR, _DAY, _MONTH, _YEAR = 60, 3_600, 86_400, 30 * 86_400, 365 * 86_400


@overload
def instant(moment: datetime) -> str: ...
@overload
def instant(moment: None) -> None: ...
def instant(moment: datetime | None) -> str | None:
    """The moment as text: ISO 8601 in UTC, to the millisecond."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@overload
def microseconds(moment: datetime) -> int: ...
@overload
def microseconds(moment: datetime | None) -> int | None: ...
def microseconds(moment: datetime | None) -> int | None:
    """Microseconds since 1970."""
    return None if moment is None else (moment - EPOCH) // MICROSECOND


def from_microseconds(count: int) -> datetime:
    return EPOCH + count * MICROSECOND


def describe_age(moment: datetime, now: datetime) -> str:
    """How long ago `moment` was, in one unit. The future counts as now because clocks differ."""
    seconds = max(0, int((now - moment).total_seconds()))
    if _MONTH <= seconds < 2 * _MONTH:
        return f"{seconds // _DAY}d ago"
    units = ((_YEAR, "y"), (_MONTH, "mo"), (_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m"), (1, "s"))
    for length, unit in units:
        if seconds >= length:
            return f"{seconds // length}{unit} ago"
    return "0s ago"
