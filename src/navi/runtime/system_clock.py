"""The real time."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo


def machine_timezone() -> tzinfo:
    """The machine's zone with its rules, so that times after the next change are right too."""
    # Only now: who asks for the time alone, such as a short command, needs no rules.
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    name = os.environ.get("TZ", "").lstrip(":") or _name_in("/etc/localtime")
    if name:
        try:
            return ZoneInfo(name)
        except (ValueError, ZoneInfoNotFoundError):
            pass
    return datetime.now().astimezone().tzinfo or UTC


def _name_in(link: str) -> str:
    """`Europe/Paris` of /usr/share/zoneinfo/Europe/Paris."""
    try:
        _, _, name = os.path.realpath(link).partition("zoneinfo/")
    except OSError:
        return ""
    return name


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
