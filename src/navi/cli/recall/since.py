"""How a person says since when."""

from __future__ import annotations

from datetime import datetime

from navi.domain.since import parse_since


def read_since(text: str) -> datetime:
    """A duration such as 7d, or a date with or without a time, in UTC unless it names a zone."""
    from navi.runtime.system_clock import SystemClock

    found = parse_since(text, SystemClock().now())
    if found is None:
        raise ValueError(text)
    return found
