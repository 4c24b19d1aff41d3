"""Texts from the command line or from standard input."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from navi.base.errors import UsageError


def text_of(words: Sequence[str], missing: str, example: str) -> str:
    """The words as one text; `-` alone means all of standard input."""
    text = " ".join(words)
    if text == "-":
        text = sys.stdin.read().rstrip("\n")
    if not text.strip():
        raise UsageError(missing, hint=example)
    return text


def seconds_of(text: str) -> float:
    """`90`, `90s`, `5m` or `1h 30m`."""
    if text.isdecimal() and text.isascii():
        return float(text)
    from navi.base.time_expressions import parse_duration

    return parse_duration(text).total_seconds()
