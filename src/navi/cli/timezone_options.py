"""The options --tz and --timezone."""

from __future__ import annotations

from datetime import tzinfo

from navi.base.errors import UsageError
from navi.base.time_expressions import parse_offset
from navi.base.timezone import parse_timezone


def read(tz: str | None, offset: str | None) -> tzinfo | None:
    """The zone that either option sets; None if neither is used."""
    if tz is not None and offset is not None:
        raise UsageError("--tz and --timezone can't be combined", hint="use one or the other")
    if tz is not None:
        return parse_timezone(tz)
    return None if offset is None else parse_offset(offset)
