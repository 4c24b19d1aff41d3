"""Texts and durations from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from navi.base.errors import UsageError

if TYPE_CHECKING:
    from navi.live.model.budget import BudgetRequest


def text_of(words: Sequence[str], error: str, hint: str) -> str:
    """The words as one text, or standard input for `-`. Raises UsageError if it is blank."""
    text = " ".join(words)
    if text == "-":
        text = sys.stdin.read().rstrip("\n")
    if not text.strip():
        raise UsageError(error, hint=hint)
    return text


def seconds_of(text: str) -> float:
    """The seconds in `90`, `90s`, `5m` or `1h 30m`."""
    if text.isdecimal() and text.isascii():
        return float(text)
    from navi.base.time_expressions import parse_duration

    return parse_duration(text).total_seconds()


def deadline_minutes_of(text: str | None) -> int | None:
    """The minutes in `30m`, `8h` or `0`, rounded up; None for None."""
    if text is None:
        return None
    if text == "0":
        return 0
    from datetime import timedelta

    from navi.base.time_expressions import parse_duration

    return -(-parse_duration(text) // timedelta(minutes=1))


def budget_of(text: str) -> BudgetRequest:
    """The budget in `2usd`, `500k tokens` or `2usd/day`."""
    from navi.live.model.budget import BudgetRequest, parse_budget

    amount, is_daily = parse_budget(text)
    return BudgetRequest(amount.tokens, amount.dollars, "day" if is_daily else None)
