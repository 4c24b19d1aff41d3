"""How a person says since when."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def read_since(text: str) -> datetime:
    """`7d`, `24h`, `30m`, `1w`, or a date with or without a time, in UTC unless it says else."""
    text = text.strip()
    if found := re.fullmatch(r"(\d{1,6})([mhdw])", text.lower()):
        from navi.runtime.system_clock import SystemClock

        return SystemClock().now() - timedelta(**{UNITS[found[2]]: int(found[1])})
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(text) from error
