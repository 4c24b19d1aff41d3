"""Reads the start and the end of a time range in the past: "7d", "yesterday"."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from navi.base.errors import InvalidInput
from navi.base.time_expressions import parse_duration

SINCE_FORMS = "yesterday, monday, 7d, 24h, 2026-01-15 or 2026-01-15T10:30"

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def parse_since(text: str, now: datetime, timezone: tzinfo = UTC) -> datetime | None:
    """The start of the range: for a day, its first moment. None if `text` isn't a time."""
    span = _span(text, now, timezone)
    return None if span is None else span[0]


def parse_until(text: str, now: datetime, timezone: tzinfo = UTC) -> datetime | None:
    """The end of the range: for a day, the start of the next one. None if `text` isn't a time."""
    span = _span(text, now, timezone)
    return None if span is None else span[1]


def _span(text: str, now: datetime, timezone: tzinfo) -> tuple[datetime, datetime] | None:
    words = " ".join(text.lower().split())
    try:
        return _span_at(now - parse_duration(words.removesuffix(" ago")))
    except (InvalidInput, OverflowError):
        pass
    today = now.astimezone(timezone).date()
    try:
        if (day := _day(words, today)) is not None:
            return _midnight(day, timezone), _midnight(day + timedelta(days=1), timezone)
        if (moment := _moment(words, now, timezone)) is not None:
            return _span_at(moment)
        moment = datetime.fromisoformat(text.strip())
        return _span_at(moment.replace(tzinfo=moment.tzinfo or timezone))
    except (ValueError, OverflowError):
        return None


def _day(words: str, today: date) -> date | None:
    """The day meant by `today`, `yesterday`, a date or a weekday. A weekday is its latest
    occurrence, which may be today."""
    if words == "today":
        return today
    if words == "yesterday":
        return today - timedelta(days=1)
    for number, name in enumerate(WEEKDAYS):
        if words in (name, name[:3]):
            return today - timedelta(days=(today.weekday() - number) % 7)
    try:
        return date.fromisoformat(words)
    except ValueError:
        return None


def _moment(words: str, now: datetime, timezone: tzinfo) -> datetime | None:
    """Reads `14:30`, which is the last time it was 14:30, and `yesterday 14:30`, with any day that
    `_day` reads. None for other texts."""
    day_name, _, clock = words.rpartition(" ")
    today = now.astimezone(timezone).date()
    day = _day(day_name.removesuffix(" at"), today) if day_name else today
    if day is None or ":" not in clock:
        return None
    try:
        moment = datetime.combine(day, time.fromisoformat(clock), timezone)
    except ValueError:
        return None
    return moment - timedelta(days=1) if not day_name and moment > now else moment


def _midnight(day: date, timezone: tzinfo) -> datetime:
    return datetime.combine(day, time(), timezone).astimezone(UTC)


def _span_at(moment: datetime) -> tuple[datetime, datetime]:
    utc = moment.astimezone(UTC)
    return utc, utc
