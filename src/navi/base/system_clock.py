"""The real time, and this machine's time zone."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


def machine_timezone(environment: Mapping[str, str] = os.environ) -> tzinfo:
    """The machine's zone, always one with an IANA name, which cron expressions need.

    If the machine states only rules, as with TZ=CET-1CEST, it is a zone with the same rules.
    """
    if variable := environment.get("TZ"):
        zone = _named(_after_zoneinfo(variable.removeprefix(":")))
    else:
        link = _after_zoneinfo(os.path.realpath("/etc/localtime"))
        zone = _named(link) or _named(_etc_timezone())
    return zone or _similar_zone()


def _after_zoneinfo(path: str) -> str:
    """`Europe/Paris` from /usr/share/zoneinfo/Europe/Paris; a bare name is returned unchanged."""
    return path.rpartition("zoneinfo/")[2]


def _etc_timezone() -> str:
    try:
        with open("/etc/timezone", encoding="ascii") as file:
            return file.readline().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _named(name: str) -> tzinfo | None:
    # Imported here because short commands need only the time, not the zone's rules.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        return None


def _similar_zone() -> tzinfo:
    """A zone with the same offsets as the machine's clock in winter and summer, or UTC.

    Prefers the same abbreviations, then the same summer offset, then the plainest name: CET rather
    than Europe/Oslo.
    """
    from zoneinfo import ZoneInfo, available_timezones

    seasons = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 7)]
    clock = [season.astimezone() for season in seasons]
    similar = []
    for name in available_timezones():
        local = [season.astimezone(ZoneInfo(name)) for season in seasons]
        if _offsets(local) == _offsets(clock):
            has_other_names = {each.tzname() for each in local} != {each.tzname() for each in clock}
            has_other_summer = local[1].utcoffset() != clock[1].utcoffset()
            is_longer = name != clock[0].tzname()
            similar.append((has_other_names, has_other_summer, is_longer, len(name), name))
    return ZoneInfo(min(similar)[-1]) if similar else UTC


def _offsets(moments: Sequence[datetime]) -> set[timedelta | None]:
    return {moment.utcoffset() for moment in moments}
