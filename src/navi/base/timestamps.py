"""How an instant is written for other programs, and kept as a number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


@overload
def instant(moment: datetime) -> str: ...
@overload
def instant(moment: None) -> None: ...
def instant(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@overload
def microseconds(moment: datetime) -> int: ...
@overload
def microseconds(moment: datetime | None) -> int | None: ...
def microseconds(moment: datetime | None) -> int | None:
    """Since 1970."""
    return None if moment is None else (moment - EPOCH) // MICROSECOND


def from_microseconds(count: int) -> datetime:
    return EPOCH + count * MICROSECOND
