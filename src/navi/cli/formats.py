"""Numbers, times and paths the way people read them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

from navi.base.control_characters import one_line
from navi.base.timestamps import describe_age
from navi.cli import cells


def source(name: str) -> str:
    """A source's name as people type it: `claude-code` for `claude_code`."""
    return name.replace("_", "-")


def size(amount: float) -> str:
    """`950 B`, `12.3 KB`, `4.5 MB`."""
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")


def age(moment: datetime | None, now: datetime) -> str:
    return "?" if moment is None else describe_age(moment, now)


def duration(seconds: int | None) -> str:
    if seconds is None:
        return "?"
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        return f"{hours}h {minutes % 60}m"
    return f"{minutes}m" if minutes else f"{seconds}s"


def count(number: int, noun: str) -> str:
    """`1 use`, `1,200 uses`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def joined(names: Sequence[str]) -> str:
    """`Claude Code, Codex and Navi`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def compact(number: int) -> str:
    """`950`, `12.3K`, `4.5M`."""
    if number < 1000:
        return str(number)
    value = float(number)
    for unit in ("K", "M", "G"):
        value /= 1000
        if value < 999.95 or unit == "G":
            return f"{value:.1f}{unit}"
    raise AssertionError("unreachable")


def local_time(moment: datetime) -> str:
    """The time and the zone's name, in the zone of TZ or, if that is not set, the machine's."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"


def period(since: datetime, until: datetime | None) -> str:
    """`since 2026-11-12 09:30 CET`, or `from … to …`."""
    if until is None:
        return f"since {local_time(since)}"
    return f"from {local_time(since)} to {local_time(until)}"


def shortened(text: str, length: int, *, keep_end: bool = False) -> str:
    """The text on one line of at most `length` cells."""
    return cells.cut(one_line(text), length, keep_end=keep_end)


def short_path(path: str) -> str:
    """`~/work` for a path in the user's home."""
    home = os.path.expanduser("~").rstrip("/")
    return "~" + path[len(home) :] if home and (path + "/").startswith(home + "/") else path


def bar(share: float, width: int = 24) -> str:
    """A bar that fills `share` of `width`; any share above zero shows at least a sliver."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0 and eighths == 0:
        eighths = 1
    full, rest = divmod(eighths, 8)
    return "█" * full + ("" if rest == 0 else "▏▎▍▌▋▊▉"[rest - 1])
