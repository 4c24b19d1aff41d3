"""Limits on the intervals and counts of recalls, automations and reminders.

Every valid number fits its column in both databases. Adding it to a date of this century gives a
valid date.
"""

from __future__ import annotations

from datetime import timedelta

from navi.base.errors import InvalidInput
from navi.base.shortened_text import shortened
from navi.base.time_expressions import FURTHEST

LONGEST_SECONDS = FURTHEST // timedelta(seconds=1)
HIGHEST_COUNT = 1_000_000
LONGEST_NUMBER = 24


def require_seconds(name: str, seconds: int, shortest: int) -> int:
    if not shortest <= seconds <= LONGEST_SECONDS:
        raise InvalidInput(
            f"{name} is {shortened(str(seconds), LONGEST_NUMBER)}",
            hint=f"use a number of seconds from {shortest} to {LONGEST_SECONDS} (10 years); "
            "900 is 15 minutes",
        )
    return seconds


def require_count(name: str, count: int) -> int:
    if not 1 <= count <= HIGHEST_COUNT:
        raise InvalidInput(
            f"{name} is {shortened(str(count), LONGEST_NUMBER)}",
            hint=f"use a number from 1 to {HIGHEST_COUNT}",
        )
    return count
