"""How large the numbers of recalls, automations and reminders may be.

Whatever passes here fits every column of both stores, and adding it to a date of this century
never leaves the calendar.
"""

from __future__ import annotations

from datetime import timedelta

from navi.base.errors import InvalidInput
from navi.base.time_expressions import FURTHEST

LONGEST_SECONDS = FURTHEST // timedelta(seconds=1)
HIGHEST_COUNT = 1_000_000


def require_seconds(name: str, seconds: int, shortest: int) -> int:
    if not shortest <= seconds <= LONGEST_SECONDS:
        raise InvalidInput(
            f"{name} is {_shortened(seconds)}",
            hint=f"use a number of seconds from {shortest} to {LONGEST_SECONDS} (10 years); "
            "900 is 15 minutes",
        )
    return seconds


def require_count(name: str, count: int) -> int:
    if not 1 <= count <= HIGHEST_COUNT:
        raise InvalidInput(
            f"{name} is {_shortened(count)}", hint=f"use a number from 1 to {HIGHEST_COUNT}"
        )
    return count


def _shortened(number: int) -> str:
    digits = str(number)
    return digits if len(digits) <= 24 else f"{digits[:10]}… ({len(digits)} digits)"
