"""Describes damage to an agent's file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

CUT_OFF_AFTER_SECONDS = 300.0
"""No agent takes this long to write a line, so the other half will not come."""


def is_old(mtime: float, now: datetime) -> bool:
    """Whether a file that ends in half a line will stay like that."""
    return now.timestamp() - mtime > CUT_OFF_AFTER_SECONDS


def formatted_lines(count: int, numbers: Sequence[int] = ()) -> str:
    """`2 lines (7, 12)`."""
    text = f"{count:,} {'line' if count == 1 else 'lines'}"
    if not numbers:
        return text
    more = ", …" if len(numbers) < count else ""
    return f"{text} ({', '.join(map(str, numbers))}{more})"
