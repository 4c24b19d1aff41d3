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
    """The zone of an IANA name such as Europe/Paris, or of an offset such as +02:00."""
    if name == "UTC":  # works even without a time zone database
        return UTC
    if name[:1] in ("+", "-"):
        return parse_offset(name)
    if name not in _zone_names():
        raise InvalidInput(f"there is no time zone {quoted(name)}", hint=_hint(name))
    return ZoneInfo(name)


def timezone_or_utc(name: str) -> tzinfo:
    """The zone of a stored name; UTC if this machine does not have it. Only for showing times."""
    try:
        return parse_timezone(name)
    except InvalidInput:
        return UTC


def zone_name(timezone: tzinfo) -> str:
    """The zone's IANA name or offset, as `parse_timezone` reads it."""
    return getattr(timezone, "key", None) or str(timezone).removeprefix("UTC") or "UTC"


@cache
def _zone_names() -> set[str]:
    """Cached because listing the zones reads hundreds of files."""
    return available_timezones()


def _hint(name: str) -> str:
    """Suggests zones that end with `name`: `paris` may mean Europe/Paris."""
    end = "_".join(name.lower().split())
    similar = sorted(zone for zone in _zone_names() if end and zone.lower().endswith(end))
    if similar:
        return f"did you mean {' or '.join(similar[:3])}?"
    return "use an IANA name like Europe/Paris, America/New_York or UTC, or an offset like +02:00"
