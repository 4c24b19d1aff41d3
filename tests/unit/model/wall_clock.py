"""When a cron expression fires, found by looking at a wall clock every minute.

It shares nothing with `navi.live.model.scheduling.schedule`, so that each can check the other.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Change:
    """A clock change in this zone, and perhaps in others."""

    zone: str
    at: datetime
    """The first minute by the new time."""
    before: timedelta
    after: timedelta


@cache
def changes(start: datetime, end: datetime) -> list[Change]:
    """All clock changes in the world, each once: most zones change together with others."""
    distinct: dict[tuple[datetime, timedelta, timedelta], Change] = {}
    for name in sorted(available_timezones()):
        for change in changes_of(name, start, end):
            distinct.setdefault((change.at, change.before, change.after), change)
    return list(distinct.values())


def changes_of(name: str, start: datetime, end: datetime) -> Iterable[Change]:
    zone = ZoneInfo(name)
    day = start
    while day < end:
        before, after = _offset(day, zone), _offset(day + DAY, zone)
        if before != after:
            minutes = range(24 * 60)
            number = bisect_right(
                minutes, 0, key=lambda m: int(_offset(day + m * MINUTE, zone) != before)
            )
            yield Change(name, day + number * MINUTE, before, after)
        day += DAY


@dataclass(frozen=True)
class Wall:
    """A clock on the wall of a zone: what it shows at each minute."""

    minutes: list[tuple[datetime, datetime]]

    @classmethod
    def between(cls, zone: str, start: datetime, end: datetime) -> Wall:
        place = ZoneInfo(zone)
        moments = (start + number * MINUTE for number in range((end - start) // MINUTE))
        # Without `fold`: a time that is shown twice looks the same both times.
        return cls([(m, m.astimezone(place).replace(tzinfo=None, fold=0)) for m in moments])

    def occurrences(self, expr: str) -> list[datetime]:
        """The instants at which the expression fires."""
        pattern = Pattern.of(expr)
        moments: list[datetime] = []
        seen: set[datetime] = set()
        expected = self.minutes[0][1]
        for moment, time in self.minutes:
            if pattern.follows_real_time:
                happens = pattern.fits(time)
            else:
                # A skipped time fires now; a repeated one has already fired.
                happens = any(pattern.fits(each) for each in _minutes(expected, time))
                happens |= pattern.fits(time) and time not in seen
                seen.add(time)
            if happens:
                moments.append(moment)
            expected = time + MINUTE
        return moments


@dataclass(frozen=True)
class Pattern:
    minutes: set[int]
    hours: set[int]
    days: set[int]
    months: set[int]
    weekdays: set[int]
    is_either_day: bool
    """Whether it is enough that the day of the month or that of the week fits."""
    follows_real_time: bool

    @classmethod
    def of(cls, expr: str) -> Pattern:
        minute, hour, day, month, weekday = expr.split()
        return cls(
            _numbers(minute, 0, 59),
            _numbers(hour, 0, 23),
            _numbers(day, 1, 31),
            _numbers(month, 1, 12),
            {number % 7 for number in _numbers(weekday, 0, 7)},
            is_either_day=not day.startswith("*") and not weekday.startswith("*"),
            follows_real_time=minute.startswith("*") or hour.startswith("*"),
        )

    def fits(self, time: datetime) -> bool:
        if time.minute not in self.minutes or time.hour not in self.hours:
            return False
        by_month, by_week = time.day in self.days, time.isoweekday() % 7 in self.weekdays
        fits = by_month or by_week if self.is_either_day else by_month and by_week
        return fits and time.month in self.months


def _numbers(field: str, least: int, most: int) -> set[int]:
    numbers: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        if span == "*":
            first, last = least, most
        elif "-" in span:
            first, last = (int(number) for number in span.split("-"))
        else:
            first = int(span)
            last = most if step else first
        numbers.update(range(first, last + 1, int(step or 1)))
    return numbers


def _minutes(start: datetime, end: datetime) -> Iterable[datetime]:
    while start < end:
        yield start
        start += MINUTE


def _offset(moment: datetime, zone: ZoneInfo) -> timedelta:
    offset = moment.astimezone(zone).utcoffset()
    assert offset is not None
    return offset


def utc(*numbers: int) -> datetime:
    return datetime(*numbers, tzinfo=UTC)  # type: ignore[arg-type, misc]
