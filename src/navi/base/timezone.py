"""The time zone for reading and showing times: the caller's, else the configured one."""

from __future__ import annotations

from datetime import UTC, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from navi.base.errors import InvalidInput
from navi.base.time_expressions import parse_offset, quoted


def request_timezone(
    default: tzinfo, tz: str | None = None, timezone_offset: str | None = None
) -> tzinfo:
    """The zone that a request names by `tz` or `timezone_offset`, else the default."""
    if tz and timezone_offset:
        raise InvalidInput(
            "tz and timezone_offset can't be combined", hint="leave out timezone_offset"
        )
    if tz:
        return parse_timezone(tz)
    return parse_offset(timezone_offset) if timezone_offset else default


def parse_timezone(name: str) -> tzinfo:
    """The zone of an IANA name such as Europe/Paris."""
    if name == "UTC":  # works even without a time zone database
        return UTC
    if name not in _names():
        raise InvalidInput(f"there is no time zone {quoted(name)}", hint=_hint(name))
    return ZoneInfo(name)


def timezone_or_utc(name: str) -> tzinfo:
    """A stored zone, or UTC if this machine does not have it. Only for showing times."""
    return ZoneInfo(name) if name in _names() else UTC


def zone_name(timezone: tzinfo) -> str:
    """The zone's IANA name, or UTC: without a name it has no rules for a schedule to follow."""
    return getattr(timezone, "key", "UTC")


@cache
def _names() -> set[str]:
    """Cached because listing them reads hundreds of files."""
    return available_timezones()


def _hint(name: str) -> str:
    """Suggests zones that end with `name`: `paris` may mean Europe/Paris."""
    end = "_".join(name.lower().split())
    similar = sorted(zone for zone in _names() if end and zone.lower().endswith(end))
    if similar:
        return f"did you mean {' or '.join(similar[:3])}?"
    return "use an IANA name like Europe/Paris, America/New_York or UTC"
