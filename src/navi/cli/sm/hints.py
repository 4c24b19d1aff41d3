"""The server's errors in the words of the command line."""

from __future__ import annotations

import re

_CALLS = {
    "GET /sessions lists": "`sm status` lists",
    r"end it with POST /sessions/\S+/stop, then": "wait for it with `sm wait`, then",
    "with POST /sessions": "with `sm spawn`",
    "leave out the reminder, or send one text later with POST /scheduler/remind": (
        'leave out --remind; `sm remind 5m "TEXT" --to SESSION` sends one text later'
    ),
}
_FIELDS = {
    r"one of: at \(with tz\), every_seconds, cron_expr \(with tz\)": "--at, --every or --cron",
    r"^at and ": "--at and ",
    "with at, every_seconds or cron_expr": "with `sm automation edit`",
    r"\bevery_seconds\b": "--every",
    r"\bcron_expr\b": "--cron",
    r"\bexpires_at\b": "--expires",
    r"\bmax_runs\b": "--max-runs",
}


def in_sm_words(text: str) -> str:
    """Replace HTTP calls with commands, and fields with flags."""
    for pattern, words in {**_CALLS, **_FIELDS}.items():
        text = re.sub(pattern, words, text)
    return text
