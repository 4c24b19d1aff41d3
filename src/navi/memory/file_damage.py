"""Describes damage to an agent's file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

CUT_OFF_AFTER_SECONDS = 300.0
"""No agent takes this long to write a line, so an incomplete line this old stays incomplete."""


def is_old(mtime: float, now: datetime) -> bool:
    """Whether the last change was so long ago that an incomplete last line stays incomplete."""
    return now.timestamp() - mtime > CUT_OFF_AFTER_SECONDS


def formatted_lines(count: int, numbers: Sequence[int] = ()) -> str:
    """`3 lines (7, 12, …)`: how many lines there are, and the numbers of the first few."""
    text = f"{count:,} {'line' if count == 1 else 'lines'}"
    if not numbers:
        return text
    more = ", …" if len(numbers) < count else ""
    return f"{text} ({', '.join(map(str, numbers))}{more})"
