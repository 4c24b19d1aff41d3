"""Numbers, times and paths the way people read them."""

from __future__ import annotations

import os
from datetime import datetime

from navi.base.control_characters import one_line
from navi.base.timestamps import describe_age
from navi.cli import cells


def source(name: str) -> str:
    """`claude-code` for what the tables call `claude_code`."""
    return name.replace("_", "-")


def size(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
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
    """In the machine's time zone, or that of TZ, with its name."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"


def shortened(text: str, length: int, *, keep_end: bool = False) -> str:
    """On one line of at most `length` cells."""
    return cells.cut(one_line(text), length, keep_end=keep_end)


def home_short(path: str) -> str:
    """`~/work` for a path in the user's home."""
    home = os.path.expanduser("~").rstrip("/")
    return "~" + path[len(home) :] if home and (path + "/").startswith(home + "/") else path


def bar(share: float, width: int = 24) -> str:
    """A horizontal bar, with at least a sliver for any value above zero."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    if share > 0 and eighths == 0:
        eighths = 1
    full, rest = divmod(eighths, 8)
    return "█" * full + ("" if rest == 0 else "▏▎▍▌▋▊▉"[rest - 1])
