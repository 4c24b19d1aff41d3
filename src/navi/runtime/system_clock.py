"""The real time."""

from __future__ import annotations

import os
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def machine_timezone() -> tzinfo:
    """The machine's zone with its rules, so that times after the next change are right too."""
    name = os.environ.get("TZ", "").lstrip(":") or _name_in(Path("/etc/localtime"))
    if name:
        try:
            return ZoneInfo(name)
        except (ValueError, ZoneInfoNotFoundError):
            pass
    return datetime.now().astimezone().tzinfo or UTC


def _name_in(link: Path) -> str:
    """`Europe/Paris` of /usr/share/zoneinfo/Europe/Paris."""
    try:
        _, _, name = str(link.resolve()).partition("zoneinfo/")
    except OSError:
        return ""
    return name


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)
