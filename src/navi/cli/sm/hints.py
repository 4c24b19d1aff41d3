"""The server's errors in the words of the command line."""

from __future__ import annotations

import re

_CALLS = {
    "GET /sessions lists": "`sm status` lists",
    "GET /limits lists": "`sm limit` lists",
    r"end it with POST /sessions/(\S+)/stop": r"end it with `sm stop \1`",
    "with POST /sessions": "with `sm spawn`",
    r"POST /questions/(\S+)/answer answers it": r"`sm answer \1` answers it",
    r"GET /questions/(\S+) shows it": "`sm inbox` lists the open questions",
    "GET /questions lists": "`sm inbox` lists",
    "GET /inbox lists": "`sm inbox` lists",
    "leave out updated_input": "leave out --input",
    "leave out the reminder, or send one text later with POST /scheduler/remind": (
        'leave out --remind; `sm remind 5m "TEXT" --to SESSION` sends one text later'
    ),
}
_FIELDS = {
    r"one of: at \(with tz\), every_seconds, cron_expr \(with tz\)": "--at, --every or --cron",
    r"^at and ": "--at and ",
    "with at, every_seconds or cron_expr": "with `sm automation edit`",
    "^tz alone": "--tz alone",
    "send it with at, cron_expr or expires_at": "use it with --at, --cron or --expires",
    r"\b(every|interval)_seconds\b": "--every",
    r"\bcron_expr\b": "--cron",
    r"\bexpires_at\b": "--expires",
    r"\bmax_runs\b": "--max-runs",
    r"\bmax_failures\b": "--max-failures",
    r"\btime_limit_seconds\b": "--time-limit",
    r"\bquestion_deadline_minutes\b": "--question-deadline",
    r"\binternal_comment\b": "--comment",
}


def in_sm_words(text: str) -> str:
    """Replace HTTP calls with commands, and fields with flags."""
    for pattern, words in {**_CALLS, **_FIELDS}.items():
        text = re.sub(pattern, words, text)
    return text
