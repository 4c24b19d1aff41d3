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

    If the machine's setting is only a rule, such as TZ=CET-1CEST, a zone with the same offsets is
    used.
    """
    if variable := environment.get("TZ"):
        zone = _load_zone(_after_zoneinfo(variable.removeprefix(":")))
    else:
        link = _after_zoneinfo(os.path.realpath("/etc/localtime"))
        zone = _load_zone(link) or _load_zone(_etc_timezone())
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


def _load_zone(name: str) -> tzinfo | None:
    # Imported here because short commands need only the time, not the zone's rules.
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        return None


def _similar_zone() -> tzinfo:
    """A zone with the machine's offsets in January and July, in any order; UTC if there is none.

    Prefers the same abbreviations, then the same offset in July, then the plainest name: CET rather
    than Europe/Oslo.
    """
    from zoneinfo import ZoneInfo, available_timezones

    seasons = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 7)]
    machine = [season.astimezone() for season in seasons]
    similar = []
    for name in available_timezones():
        local = [season.astimezone(ZoneInfo(name)) for season in seasons]
        if _offsets(local) == _offsets(machine):
            differences = (
                _abbreviations(local) != _abbreviations(machine),
                local[1].utcoffset() != machine[1].utcoffset(),
                name != machine[0].tzname(),
            )
            similar.append((*differences, len(name), name))
    return ZoneInfo(min(similar)[-1]) if similar else UTC


def _offsets(moments: Sequence[datetime]) -> set[timedelta | None]:
    return {moment.utcoffset() for moment in moments}


def _abbreviations(moments: Sequence[datetime]) -> set[str | None]:
    return {moment.tzname() for moment in moments}
