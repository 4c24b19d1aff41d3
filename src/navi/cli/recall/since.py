"""How a person says since when."""

from __future__ import annotations

from datetime import datetime

from navi.domain.since import parse_since


def read_since(text: str) -> datetime:
    """`7d`, `24h`, `30m`, `1w`, or a date with or without a time, in UTC unless it says else."""
    from navi.runtime.system_clock import SystemClock

    found = parse_since(text, SystemClock().now())
    if found is None:
        raise ValueError(text)
    return found
