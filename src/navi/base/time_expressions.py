"""Reads the times that people and agents write, and writes instants back in words.

The grammar is small: a text has exactly one meaning, or is refused with examples that work.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from datetime import timezone as fixed_offset
from decimal import Decimal
from itertools import count

from navi.base.errors import InvalidInput
from navi.base.shortened_text import shortened

FURTHEST = timedelta(days=3_653)
"""Ten years with their leap days. Anything further ahead is probably a typo."""

TEXT_LIMIT = 100
"""In characters; several spaces in a row count as one. The longest valid text has about 60."""


def parse_when(text: str, now: datetime, timezone: tzinfo) -> datetime:
    """The instant that `text` means, in UTC; never before `now`."""
    query = _Query(text, _normalize(text), now.astimezone(UTC), timezone)
    for read in _READERS:
        instant = read(query)
        if instant is None:
            continue
        if instant < query.now:
            raise _past(query)
        if instant - query.now > FURTHEST:
            raise _too_far(query)
        return instant
    raise _refusal(query, f"can't read {quoted(text)} as a time")


def parse_offset(text: str) -> tzinfo:
    """The zone of a `timezone_offset` such as +02:00."""
    if text.upper() in ("Z", "UTC"):
        return UTC
    match = _OFFSET.fullmatch(text)
    if match:
        sign, hours, minutes = match[1], int(match[2]), int(match[3] or 0)
        ahead = timedelta(hours=hours, minutes=minutes)
        if minutes < 60 and ahead <= timedelta(hours=14):
            return fixed_offset(-ahead if sign == "-" else ahead)
    raise InvalidInput(
        f"can't read {quoted(text)} as an offset from UTC",
        hint='write "+02:00", "-05:30", "+2" or "UTC"; offsets go from -14:00 to +14:00',
    )


def parse_duration(text: str) -> timedelta:
    """An exact length of time: a day is 24 hours even when the clocks change. May be zero."""
    length = _duration(_normalize(text))
    if length is None:
        raise InvalidInput(f"can't read {quoted(text)} as a duration", hint=_DURATION_HINT)
    return length


def describe(instant: datetime, now: datetime, timezone: tzinfo) -> str:
    """How far away the instant is, its local time and UTC. `parse_when` reads the local time."""
    # Python subtracts two times in one zone by their wall clocks, so convert both to UTC.
    distance = _distance(instant.astimezone(UTC) - now.astimezone(UTC))
    return f"{distance}, {describe_moment(instant, timezone)}"


def describe_moment(instant: datetime, timezone: tzinfo) -> str:
    """The instant's local time and, where that differs, UTC."""
    local, utc = instant.astimezone(timezone), instant.astimezone(UTC)
    if not local.utcoffset():
        return f"{_stamp(utc)} UTC"
    utc_text = _clock(utc) if utc.date() == local.date() else _stamp(utc)
    return f"{_stamp(local)} {_offset(local)} ({utc_text} UTC)"


def describe_length(length: timedelta) -> str:
    """The length in words, to the second. `parse_duration` can read it back, unless negative."""
    seconds = length // timedelta(seconds=1)
    parts = []
    for unit, name in ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")):
        number, seconds = divmod(seconds, unit)
        if number:
            parts.append(f"{number} {name}")
    return " ".join(parts) or "0 s"


def quoted(text: str) -> str:
    """The text in quotes, shortened, and safe for terminals and databases."""
    return repr(shortened(text, 60))


# Readers: each reads one form and returns None for any other. It raises InvalidInput for text that
# has its form but is not a valid time.


@dataclass(frozen=True, slots=True)
class _Query:
    text: str
    normal_text: str
    now: datetime
    timezone: tzinfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.timezone).date()


def _normalize(text: str) -> str:
    """Lower case with single spaces; if the text can't be a time, '', which no reader accepts."""
    words = " ".join(text.split())
    # Checked before lower(), which turns e.g. the Kelvin sign into an ASCII k.
    if not words.isascii() or len(words) > TEXT_LIMIT:
        return ""
    return re.sub(r"\b([ap])\.m\.", r"\1m", words.lower()).removesuffix(".")


def _read_now(query: _Query) -> datetime | None:
    return query.now if query.normal_text in ("now", "immediately") else None


_UNIT_SECONDS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
"""Seconds per unit, in the order in which units occur in a duration: longest first."""
_AMOUNT = r"([0-9]+(?:\.[0-9]+)?)"
_UNIT = "(weeks?|w|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)"
_DURATION_PART = re.compile(f"{_AMOUNT} ?{_UNIT}")
_DURATION = re.compile(f"{_DURATION_PART.pattern}(?:(?:,? and |, ?| ?){_DURATION_PART.pattern})*")
_ISO_DURATION = re.compile(
    f"p(?=.)(?:{_AMOUNT}(w))?(?:{_AMOUNT}(d))?"
    f"(?:t(?=.)(?:{_AMOUNT}(h))?(?:{_AMOUNT}(m))?(?:{_AMOUNT}(s))?)?"
)
_DURATION_HINT = 'write "30m", "2h 15m", "1d 6h" or "90 seconds"; the longest is 10 years'

_NUMBER_WORDS = {
    **{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7"},
    **{"eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "fifteen": "15"},
    **{"twenty": "20", "thirty": "30", "forty-five": "45", "ninety": "90"},
}
# Patterns and their replacements, applied one after another in this order.
_SPELLINGS = (
    (r"^(an?|[0-9]+) ([a-z]+) and a half$", r"\1 and a half \2"),  # an hour and a half
    (r"^an? and a half ", "1.5 "),
    (r"^([0-9]+) and a half ", r"\1.5 "),
    (r"^(half an?|an? half|half) ", "0.5 "),
    (r"\ban? (?=[a-z]{3})", "1 "),
    (r"((?:hours?|hrs?|h) ?)([0-5]?[0-9])$", r"\1\2m"),  # 2h 15
)


def _read_duration(query: _Query) -> datetime | None:
    length = _duration(query.normal_text.removeprefix("in ").removesuffix(" from now"))
    return None if length is None else query.now + length


def _duration(words: str) -> timedelta | None:
    parts = _duration_parts(words)
    units = [unit[0] for _, unit in parts]
    if not parts or units != [unit for unit in _UNIT_SECONDS if unit in units]:
        return None
    # Summed as decimals, which never overflow.
    seconds = sum(Decimal(amount) * _UNIT_SECONDS[unit[0]] for amount, unit in parts)
    if seconds > FURTHEST // timedelta(seconds=1):
        raise InvalidInput(f"{quoted(words)} is longer than 10 years", hint=_DURATION_HINT)
    return timedelta(microseconds=int(seconds * 1_000_000))


def _duration_parts(words: str) -> list[tuple[str, str]]:
    """Pairs of amount and unit; empty if the words are not a duration."""
    if match := _ISO_DURATION.fullmatch(words):
        amounts_and_units = [part for part in match.groups() if part]
        return list(zip(amounts_and_units[::2], amounts_and_units[1::2], strict=True))
    plain = re.sub(
        rf"\b({'|'.join(_NUMBER_WORDS)})\b", lambda match: _NUMBER_WORDS[match[0]], words
    )
    for spelling, replacement in _SPELLINGS:
        plain = re.sub(spelling, replacement, plain)
    return _DURATION_PART.findall(plain) if _DURATION.fullmatch(plain) else []


_OFFSET = re.compile("([+-])([0-9]{2}|[0-9](?![0-9]))(?::?([0-9]{2}))?")
_ISO = re.compile(
    "([0-9]{4})-([0-9]{2})-([0-9]{2})[t ]"
    r"([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?"
    "(?: ?(?P<zone>z|utc|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)


def _read_iso(query: _Query) -> datetime | None:
    match = _ISO.fullmatch(query.normal_text)
    if not match:
        return None
    # Not fromisoformat, which in newer Pythons reads 24:00 as midnight.
    year, month, day, hour, minute, second = (int(part or 0) for part in match.group(*range(1, 7)))
    microsecond = int((match[7] or "")[:6].ljust(6, "0"))
    try:
        wall = datetime.combine(date(year, month, day), time(hour, minute, second, microsecond))
    except ValueError as error:
        raise _refusal(
            query, f"{quoted(query.text)} is not a valid date and time: {error}"
        ) from error
    # Checked here, because the calendar's first and last days have no instant in some zones.
    if wall.year < query.now.year - 1:
        raise _past(query)
    if wall.year > query.now.year + 11:
        raise _too_far(query)
    zone = match["zone"]
    if zone is None:
        return _at_wall(wall, query)
    return wall.replace(tzinfo=parse_offset(zone)).astimezone(UTC)


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = (
    "(?:on )?(?:(?P<next>next )|this )?(?P<weekday>mon(?:day)?|tue(?:s|sday)?|wed(?:s|nesday)?"
    "|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
# An hour alone needs its "at", or "friday 13" would be read as one o'clock in the afternoon.
_TIME = "(?:at )?(?P<time>[0-9]{1,2}:[0-9]{2}(?: ?[ap]m)?|[0-9]{1,2} ?[ap]m|noon|midnight"
_TIME += "|(?<=at )[0-9]{1,2})"
# The hours that people mean by these words.
_PARTS_OF_DAY = {"morning": 9, "afternoon": 14, "evening": 18, "night": 20}
_DAY_AND_TIME = re.compile(f"(?P<day>today|tomorrow) {_TIME}")
_TONIGHT = re.compile(f"tonight(?: {_TIME})?")
_PART_OF_DAY = re.compile(f"(?P<day>this|tomorrow) (?P<part>{'|'.join(_PARTS_OF_DAY)})")
_WEEKDAY_AND_TIME = re.compile(f"{_WEEKDAY} {_TIME}")
_TIME_ALONE = re.compile(_TIME)
_DAY_ALONE = re.compile(f"today|tomorrow|{_WEEKDAY}|(?P<date>[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}})")


def _read_day_and_time(query: _Query) -> datetime | None:
    match = _DAY_AND_TIME.fullmatch(query.normal_text)
    if not match:
        return None
    day = query.today + timedelta(days=1 if match["day"] == "tomorrow" else 0)
    return _at_wall(datetime.combine(day, _time_of_day(match["time"], query)), query)


def _read_part_of_day(query: _Query) -> datetime | None:
    match = _PART_OF_DAY.fullmatch(query.normal_text)
    if not match:
        return None
    day = query.today + timedelta(days=1 if match["day"] == "tomorrow" else 0)
    return _at_wall(datetime.combine(day, time(_PARTS_OF_DAY[match["part"]])), query)


def _read_tonight(query: _Query) -> datetime | None:
    match = _TONIGHT.fullmatch(query.normal_text)
    if not match:
        return None
    at = _time_of_day(match["time"] or f"{_PARTS_OF_DAY['night']}:00", query)
    if at.hour < 17:
        raise _refusal(query, f"{quoted(match['time'])} is not in the evening")
    return _at_wall(datetime.combine(query.today, at), query)


def _read_next_week(query: _Query) -> datetime | None:
    if query.normal_text != "next week":
        return None
    monday = query.today + timedelta(days=7 - query.today.weekday())
    return _at_wall(datetime.combine(monday, time(_PARTS_OF_DAY["morning"])), query)


def _read_weekday_and_time(query: _Query) -> datetime | None:
    match = _WEEKDAY_AND_TIME.fullmatch(query.normal_text)
    if not match:
        return None
    days = (_WEEKDAYS.index(match["weekday"][:3]) - query.today.weekday()) % 7
    if match["next"]:
        days = days or 7
    first = query.today + timedelta(days=days)
    return _soonest(first, timedelta(weeks=1), _time_of_day(match["time"], query), query)


def _read_time_alone(query: _Query) -> datetime | None:
    match = _TIME_ALONE.fullmatch(query.normal_text)
    if not match:
        return None
    at = _time_of_day(match["time"], query)
    return _soonest(query.today, timedelta(days=1), at, query)


def _read_day_alone(query: _Query) -> None:
    match = _DAY_ALONE.fullmatch(query.normal_text)
    if not match:
        return
    if match["date"] is not None:
        try:
            date.fromisoformat(match["date"])
        except ValueError as error:
            message = f"{quoted(query.text)} is not a valid date: {error}"
            raise _refusal(query, message) from error
    raise _refusal(query, f"{quoted(query.text)} has no time of day")


_Reader = Callable[[_Query], datetime | None]
_READERS: tuple[_Reader, ...] = (
    _read_now,
    _read_duration,
    _read_iso,
    _read_day_and_time,
    _read_part_of_day,
    _read_tonight,
    _read_next_week,
    _read_weekday_and_time,
    _read_time_alone,
    _read_day_alone,
)


def _time_of_day(words: str, query: _Query) -> time:
    if words in ("noon", "midnight"):
        return time(12 if words == "noon" else 0)
    am_or_pm = words[-2:] if words.endswith("m") else ""
    hour, _, minute = words.removesuffix(am_or_pm).strip().partition(":")
    hours, minutes = int(hour), int(minute or 0)
    if am_or_pm and not 1 <= hours <= 12:
        raise _refusal(
            query, f"{quoted(words)} is not a time of day: with {am_or_pm}, hours go from 1 to 12"
        )
    if am_or_pm:
        hours = hours % 12 + (12 if am_or_pm == "pm" else 0)
    if hours > 23 or minutes > 59:
        raise _refusal(
            query, f"{quoted(words)} is not a time of day: a day goes from 00:00 to 23:59"
        )
    return time(hours, minutes)


# Local times to instants.


def _at_wall(wall: datetime, query: _Query) -> datetime:
    """The first occurrence of a local time, or the second if the first has passed."""
    first, second = _occurrences(wall, query.timezone)
    return first if first >= query.now else second


def _soonest(day: date, step: timedelta, at: time, query: _Query) -> datetime:
    """The first occurrence after now, trying `day` and then every `step`."""
    walls = (datetime.combine(day + steps * step, at) for steps in count())
    instants = (instant for wall in walls for instant in _occurrences(wall, query.timezone))
    return next(instant for instant in instants if instant > query.now)


def _occurrences(wall: datetime, timezone: tzinfo) -> tuple[datetime, datetime]:
    """When the local clock shows `wall` for the first and for the last time.

    If the clock skips that time, both are the moment of the change.
    """
    first, second = (wall.replace(tzinfo=timezone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first > second:  # PEP 495: such a local time does not exist
        first = second = _moment_of_change(wall, second, first, timezone)
    return first, second


def _moment_of_change(
    wall: datetime, before: datetime, after: datetime, timezone: tzinfo
) -> datetime:
    """The moment between the two instants at which the local clock jumps over `wall`."""
    while after - before > timedelta.resolution:
        middle = before + (after - before) // 2
        if middle.astimezone(timezone).replace(tzinfo=None) < wall:
            before = middle
        else:
            after = middle
    return after


# Refusals.


def _past(query: _Query) -> InvalidInput:
    local = query.now.astimezone(query.timezone)
    return _refusal(
        query, f"{quoted(query.text)} is in the past: it is now {_stamp(local)} {_offset(local)}"
    )


def _too_far(query: _Query) -> InvalidInput:
    return _refusal(query, f"{quoted(query.text)} is more than 10 years ahead")


def _refusal(query: _Query, message: str) -> InvalidInput:
    soon = query.today + timedelta(days=1)
    return InvalidInput(
        message,
        hint='write "30m", "2h 15m", "in 3 hours", "tomorrow at 09:00", "monday at 9", "9pm"'
        f' or "{soon}T14:30"',
    )


# Instants in words.


def _distance(ahead: timedelta) -> str:
    seconds = _rounded(abs(ahead))
    if seconds == 0:
        return "now"
    words = describe_length(timedelta(seconds=seconds))
    return f"in {words}" if ahead > timedelta(0) else f"{words} ago"


def _rounded(length: timedelta) -> int:
    """Seconds, rounded to two units: days and hours, hours and minutes, …"""
    seconds = length.total_seconds()
    step = 3_600 if seconds >= 86_400 else 60 if seconds >= 3_600 else 1
    return round(seconds / step) * step


def _stamp(moment: datetime) -> str:
    return f"{moment.date()} {_clock(moment)}"


def _clock(moment: datetime) -> str:
    return moment.time().isoformat("seconds" if moment.second else "minutes")


def _offset(local: datetime) -> str:
    return local.isoformat(timespec="minutes")[len("2026-11-15T14:30") :]
