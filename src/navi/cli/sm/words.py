"""Texts and durations from the command line."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from navi.base.errors import UsageError


def text_of(words: Sequence[str], error: str, hint: str) -> str:
    """The words as one text; a single `-` stands for all of standard input."""
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
