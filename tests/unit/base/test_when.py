from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from datetime import timezone as fixed_offset
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from navi.base.errors import InvalidInput
from navi.base.time_expressions import (
    FURTHEST,
    describe,
    describe_length,
    parse_duration,
    parse_offset,
    parse_when,
)
from navi.base.timestamps import describe_age

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = [
    "Europe/Berlin",
    "America/New_York",
    "America/Santiago",  # set forward at midnight
    "America/Havana",  # set forward at midnight, set back to midnight
    "America/Nuuk",  # set back at midnight, to the day before
    "Africa/Casablanca",  # set back for Ramadan
    "Asia/Kathmandu",  # +05:45, never set
    "Australia/Lord_Howe",  # set by half an hour
    "Pacific/Apia",  # +13:00, no longer set
]

# A loaded machine may make one example slow, which says nothing about the code.
UNHURRIED = settings(deadline=None)

# A Wednesday, 12:00 in Berlin.
NOW = datetime(2026, 11, 18, 11, 0, tzinfo=UTC)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def when(text: str, now: datetime = NOW, timezone: tzinfo = BERLIN) -> datetime:
    return parse_when(text, now, timezone)


def refusal(text: str, now: datetime = NOW, timezone: tzinfo = BERLIN) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        parse_when(text, now, timezone)
    return caught.value


# Forms that are understood.


@pytest.mark.parametrize(
    ("text", "later"),
    [
        ("30m", timedelta(minutes=30)),
        ("2h 15m", timedelta(hours=2, minutes=15)),
        ("2h15m", timedelta(hours=2, minutes=15)),
        ("1d 6h", timedelta(days=1, hours=6)),
        ("90s", timedelta(seconds=90)),
        ("1w", timedelta(weeks=1)),
        ("1w 2d 3h 4m 5s", timedelta(weeks=1, days=2, hours=3, minutes=4, seconds=5)),
        ("0s", timedelta(0)),
        ("30 minutes", timedelta(minutes=30)),
        ("1 hour 5 min", timedelta(hours=1, minutes=5)),
        ("2 hrs 1 sec", timedelta(hours=2, seconds=1)),
        ("an hour", timedelta(hours=1)),
        ("1h30", timedelta(hours=1, minutes=30)),
        ("2h 15", timedelta(hours=2, minutes=15)),
        ("2 hours 5", timedelta(hours=2, minutes=5)),
        ("1.5h", timedelta(minutes=90)),
        ("0.5 days", timedelta(hours=12)),
        ("2.25 hours", timedelta(hours=2, minutes=15)),
        ("0.25s", timedelta(milliseconds=250)),
        ("1 hour and 30 minutes", timedelta(minutes=90)),
        ("1 hour, 30 minutes", timedelta(minutes=90)),
        ("1 day, 2 hours, and 3 minutes", timedelta(days=1, hours=2, minutes=3)),
        ("an hour and 15 minutes", timedelta(minutes=75)),
        ("a day and an hour", timedelta(hours=25)),
        ("two hours", timedelta(hours=2)),
        ("Two Hours and Thirty minutes", timedelta(hours=2, minutes=30)),
        ("twelve days", timedelta(days=12)),
        ("forty-five minutes", timedelta(minutes=45)),
        ("half an hour", timedelta(minutes=30)),
        ("half a day", timedelta(hours=12)),
        ("a half hour", timedelta(minutes=30)),
        ("an hour and a half", timedelta(minutes=90)),
        ("2 hours and a half", timedelta(minutes=150)),
        ("one and a half hours", timedelta(minutes=90)),
        ("30 minutes.", timedelta(minutes=30)),
        ("PT30M", timedelta(minutes=30)),
        ("PT1H30M", timedelta(minutes=90)),
        ("P1D", timedelta(days=1)),
        ("P2W", timedelta(weeks=2)),
        ("P1DT6H", timedelta(days=1, hours=6)),
        ("PT0.5S", timedelta(milliseconds=500)),
    ],
)
def test_a_duration_is_counted_from_now_with_or_without_in(text: str, later: timedelta) -> None:
    assert when(text) == when(f"in {text}") == NOW + later
    assert when(f"{text.rstrip('.')} from now") == NOW + later
    assert parse_duration(text) == later


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", "2026-11-18 11:00"),
        ("immediately", "2026-11-18 11:00"),
        ("in 3 hours", "2026-11-18 14:00"),
        ("in 45 minutes", "2026-11-18 11:45"),
        ("in an hour", "2026-11-18 12:00"),
        ("in a minute", "2026-11-18 11:01"),
        ("tomorrow at 09:00", "2026-11-19 08:00"),
        ("tomorrow 14:30", "2026-11-19 13:30"),
        ("tomorrow 9am", "2026-11-19 08:00"),
        ("tomorrow at 9", "2026-11-19 08:00"),
        ("tomorrow at noon", "2026-11-19 11:00"),
        ("tomorrow midnight", "2026-11-18 23:00"),
        ("today at 17:00", "2026-11-18 16:00"),
        ("today 5:30 pm", "2026-11-18 16:30"),
        ("today at 12:00", "2026-11-18 11:00"),
        ("tonight", "2026-11-18 19:00"),
        ("tonight at 9pm", "2026-11-18 20:00"),
        ("tonight at 23:30", "2026-11-18 22:30"),
        ("this afternoon", "2026-11-18 13:00"),
        ("this evening", "2026-11-18 17:00"),
        ("tomorrow morning", "2026-11-19 08:00"),
        ("tomorrow night", "2026-11-19 19:00"),
        ("next week", "2026-11-23 08:00"),
        ("fri at 9", "2026-11-20 08:00"),
        ("on Mon 14:30", "2026-11-23 13:30"),
        ("next tues at noon", "2026-11-24 11:00"),
        ("thurs at 9", "2026-11-19 08:00"),
        ("this sat at 10am", "2026-11-21 09:00"),
        ("monday at 9", "2026-11-23 08:00"),
        ("tuesday at 23:59", "2026-11-24 22:59"),
        ("on friday at 8", "2026-11-20 07:00"),
        ("next friday 08:00", "2026-11-20 07:00"),
        ("on next friday at 08:00", "2026-11-20 07:00"),
        ("wednesday at 13", "2026-11-18 12:00"),
        ("wednesday at 12:00", "2026-11-25 11:00"),
        ("wednesday at 11", "2026-11-25 10:00"),
        ("next wednesday at 13", "2026-11-25 12:00"),
        ("next wednesday at 11", "2026-11-25 10:00"),
        ("9pm", "2026-11-18 20:00"),
        ("9 pm", "2026-11-18 20:00"),
        ("9am", "2026-11-19 08:00"),
        ("9 a.m.", "2026-11-19 08:00"),
        ("tomorrow at 9 p.m.", "2026-11-19 20:00"),
        ("tomorrow at 9.", "2026-11-19 08:00"),
        ("12am", "2026-11-18 23:00"),
        ("12:30am", "2026-11-18 23:30"),
        ("12:30pm", "2026-11-18 11:30"),
        ("at 21:30", "2026-11-18 20:30"),
        ("at 9", "2026-11-19 08:00"),
        ("21:30", "2026-11-18 20:30"),
        ("12:00", "2026-11-19 11:00"),
        ("11:59", "2026-11-19 10:59"),
        ("noon", "2026-11-19 11:00"),
        ("midnight", "2026-11-18 23:00"),
        ("2026-11-20T14:30:00", "2026-11-20 13:30"),
        ("2026-11-20T14:30:00Z", "2026-11-20 14:30"),
        ("2026-11-20T14:30", "2026-11-20 13:30"),
        ("2026-11-20 14:30", "2026-11-20 13:30"),
        ("2026-11-20 14:30 Z", "2026-11-20 14:30"),
        ("2026-11-20 14:30:00 UTC", "2026-11-20 14:30"),
        ("2026-11-20T14:30+0200", "2026-11-20 12:30"),
        ("2026-11-20T14:30:00-0530", "2026-11-20 20:00"),
        ("2026-11-20T14:30+02", "2026-11-20 12:30"),
        ("2026-11-20T14:30-05:30", "2026-11-20 20:00"),
        ("2026-11-20 14:30:15 +14:00", "2026-11-20 00:30:15"),
        ("2026-11-20T14:30:15.25Z", "2026-11-20 14:30:15.250000"),
        ("2026-11-20T14:30:15.123456789Z", "2026-11-20 14:30:15.123456"),
        ("2026-11-18T11:00Z", "2026-11-18 11:00"),
        ("2028-02-29T12:00Z", "2028-02-29 12:00"),
    ],
)
def test_every_documented_form_is_understood(text: str, expected: str) -> None:
    assert when(text) == utc(expected)
    assert when(text).tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("  Tomorrow   AT\t09:00\n", "tomorrow at 09:00"),
        ("NEXT Friday 08:00", "next friday 08:00"),
        ("9PM", "9pm"),
        ("2H  15M", "2h 15m"),
        ("2026-11-20t14:30z", "2026-11-20T14:30Z"),
        (" " * 10_000 + "30m", "30m"),
        ("9\u202fPM", "9pm"),  # as browsers write it
    ],
)
def test_case_and_spaces_do_not_matter(text: str, same: str) -> None:
    assert when(text) == when(same)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-11-22 22:59", "2026-11-23 08:00"),  # Sunday, a minute before midnight
        ("2026-11-22 23:00", "2026-11-30 08:00"),  # Monday
    ],
)
def test_next_week_begins_on_the_monday_after_this_one(now: str, expected: str) -> None:
    assert when("next week", utc(now)) == utc(expected)


def test_tonight_is_past_when_the_evening_is() -> None:
    assert "is in the past" in refusal("tonight", utc("2026-11-18 19:01")).message


def test_tomorrow_at_nine_with_an_offset_is_in_the_tomorrow_of_the_user() -> None:
    late = utc("2026-11-18 22:30")  # 00:30 on the 19th where the user is
    assert when("tomorrow at 09:00", late, parse_offset("+02:00")) == utc("2026-11-20 07:00")
    assert when("tomorrow at 09:00", late, UTC) == utc("2026-11-19 09:00")
    assert when("tomorrow at 09:00", late, parse_offset("-05:00")) == utc("2026-11-19 14:00")


def test_now_may_be_given_in_any_zone() -> None:
    assert when("tomorrow at 09:00", NOW.astimezone(ZoneInfo("Asia/Tokyo"))) == utc(
        "2026-11-19 08:00"
    )


def test_a_duration_is_elapsed_time_even_when_the_clocks_change() -> None:
    before = utc("2026-10-24 10:00")  # noon in Berlin, the day before summer time ends
    assert when("1d", before) == before + timedelta(hours=24)
    assert when("tomorrow at noon", before) == before + timedelta(hours=25)


# Refusals.


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\x00",
        "soon",
        "later today",
        "5",
        "9",
        "m",
        "-5m",
        "+5m",
        "5 months",
        "1y",
        "1,5h",
        "1.h",
        ".5h",
        "1h75",
        "1d 6",
        "5m 30",
        "1 hour and",
        "and 1 hour",
        "1 hour,",
        "1 hour and and 5 minutes",
        "30 minutes and 1 hour",
        "half",
        "half 2 hours",
        "a half",
        "twenty five minutes",
        "two",
        "p",
        "pt",
        "p1dt",
        "p30m",
        "p1y",
        "pt30",
        "-PT30M",
        "from now",
        "tomorrow from now",
        "tonight at 9",
        "tonight at 9am",
        "tonight at midnight",
        "this week",
        "next month",
        "next morning",
        "m at 9",
        "frid at 9",
        ".",
        "15m 2h",
        "5m 5m",
        "ah",
        "in",
        "in now",
        "in tomorrow at 9",
        "at",
        "friday 13",
        "tomorrow 9",
        "noon noon",
        "someday at 9",
        "9:5",
        "123:00",
        "0am",
        "13pm",
        "14:30pm",
        "24:00",
        "25:00",
        "12:60",
        "tomorrow at 25:00",
        "monday at 24",
        "2026-02-30T10:00",
        "2027-02-29T10:00Z",
        "2026-13-01T10:00",
        "2026-00-10T10:00",
        "2026-11-31T10:00",
        "2026-11-20T24:00",
        "2026-11-20T25:00",
        "2026-11-20T10:60",
        "2026-11-20T10:00:60",
        "2026-11-20T10:00.5",
        "2026-11-20T10",
        "2026-11-20T1000",
        "20261120T1000Z",
        "26-11-20T10:00",
        "2026-11-20T10:00+15:00",
        "2026-11-20T10:00+02:60",
        "2026-11-20T10:00+2",
        "2026-11-20T10:00+020",
        "2026-11-20T10:00 CET",
        "0000-01-01T00:00Z",
        "٣٠m",
        "３０m",
        "30ｍ",
        "1 wee\u212a",  # the Kelvin sign, whose lower case is k
        "in ² hours",
        "\ud83d",
        "30m\u200b",
        "9" * 99 + "m",
        "9" * 10_240,
        "30m " * 2_560,
        "x" * 10_240,
    ],
)
def test_anything_else_is_refused_with_forms_that_work(text: str) -> None:
    error = refusal(text)
    assert len(error.message) < 1_000
    error.message.encode()
    assert '"' in error.hint


@pytest.mark.parametrize(
    "text", ["today", "tomorrow", "next friday", "monday", "fri", "2026-11-20"]
)
def test_a_day_without_a_time_is_refused_because_any_time_would_be_a_guess(text: str) -> None:
    assert "no time of day" in refusal(text).message


@pytest.mark.parametrize("text", ["2026-02-30", "2026-13-01", "2026-02-30T09:00"])
def test_a_date_that_no_calendar_has_is_called_invalid(text: str) -> None:
    message = refusal(text).message
    assert "is not a valid date" in message
    assert "time of day" not in message


@pytest.mark.parametrize(
    "text",
    [
        "today at 11:59",
        "today at midnight",
        "this morning",
        "2026-11-18T11:59:59",
        "2026-11-18T10:59:59.999999Z",
        "2026-11-18 12:00 +02:00",
        "1999-01-01T00:00Z",
        "0001-01-01T00:00+14:00",
    ],
)
def test_a_past_time_is_refused_and_says_what_time_it_is(text: str) -> None:
    assert refusal(text).message.endswith("is in the past: it is now 2026-11-18 12:00 +01:00")


@pytest.mark.parametrize("text", ["2036-11-18T11:00Z", "3653d", "521w 6d"])
def test_ten_years_ahead_is_allowed(text: str) -> None:
    assert when(text) == NOW + FURTHEST == utc("2036-11-18 11:00")


@pytest.mark.parametrize(
    "text",
    [
        "2036-11-18T11:00:01Z",
        "2037-01-01T00:00",
        "9999-12-31T23:59-14:00",
        "3653d 1s",
        "99999w",
        "in " + "9" * 80 + " weeks",
        "9" * 40 + "." + "9" * 40 + " hours",
        "P" + "9" * 90 + "D",
    ],
)
def test_more_than_ten_years_ahead_is_refused(text: str) -> None:
    assert "than 10 years" in refusal(text).message


@pytest.mark.parametrize(
    "text", ["soon", "", "1999-01-01T00:00", "13pm", "99999w", "2026-02-30T10:00"]
)
@pytest.mark.parametrize("zone", ZONES)
def test_every_form_that_a_hint_shows_works(text: str, zone: str) -> None:
    for example in re.findall('"(.+?)"', refusal(text, timezone=ZoneInfo(zone)).hint):
        assert when(example, timezone=ZoneInfo(zone)) > NOW


# Offsets and durations on their own.


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("+02:00", 120),
        ("-05:30", -330),
        ("+00:00", 0),
        ("-00:00", 0),
        ("+14:00", 840),
        ("+2", 120),
        ("-5", -300),
        ("+02", 120),
        ("+2:00", 120),
        ("+0200", 120),
        ("-0530", -330),
        ("Z", 0),
        ("z", 0),
        ("UTC", 0),
        ("utc", 0),
    ],
)
def test_an_offset_is_a_zone(text: str, minutes: int) -> None:
    assert parse_offset(text) == fixed_offset(timedelta(minutes=minutes))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "02:00",
        " 02:00",
        "+02:00\n",
        "+200",
        "+020",
        "+2:0",
        "+15",
        "+",
        "CET",
        "+14:01",
        "-15:00",
        "+01:60",
        "Europe/Berlin",
        "+０２:00",
        "±02:00",
        "\ud83d",
        "+" * 10_240,
    ],
)
def test_any_other_offset_is_refused_with_offsets_that_work(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_offset(text)
    caught.value.message.encode()
    for example in re.findall('"(.+?)"', caught.value.hint):
        parse_offset(example)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "in 5m",
        "5m from now",
        "tonight",
        "every 5m",
        "9pm",
        "tomorrow at 9",
        "-1s",
        "5",
        "9999999999w",
    ],
)
def test_what_is_not_a_duration_is_refused_with_durations_that_work(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_duration(text)
    for example in re.findall('"(.+?)"', caught.value.hint):
        assert parse_duration(example)


UNITS = [
    ["w", " week", " weeks"],
    ["d", " day", " days"],
    ["h", " hr", " hours"],
    ["m", " min", " minutes"],
    ["s", " sec", " seconds"],
]


@UNHURRIED
@given(
    numbers=st.lists(st.integers(0, 99), min_size=5, max_size=5).filter(any),
    spellings=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    gap=st.sampled_from(["", " ", "  "]),
)
def test_a_duration_survives_being_written_and_read(
    numbers: list[int], spellings: list[int], gap: str
) -> None:
    parts = zip(numbers, spellings, UNITS, strict=True)
    text = gap.join(f"{number}{names[spelling]}" for number, spelling, names in parts if number)
    weeks, days, hours, minutes, seconds = numbers
    assert parse_duration(text) == timedelta(days, seconds, 0, 0, minutes, hours, weeks)


# Days on which the clocks change.


@pytest.mark.parametrize(
    ("zone", "text", "local"),
    [
        ("Europe/Berlin", "2027-03-28T02:30", "2027-03-28 03:00"),
        ("Europe/Berlin", "2027-03-28T02:59:59.999", "2027-03-28 03:00"),
        ("Australia/Lord_Howe", "2027-10-03T02:15", "2027-10-03 02:30"),
        ("America/Santiago", "2027-09-05T00:00", "2027-09-05 01:00"),
    ],
)
def test_a_local_time_that_does_not_exist_means_the_end_of_the_gap(
    zone: str, text: str, local: str
) -> None:
    local_time = when(text, timezone=ZoneInfo(zone)).astimezone(ZoneInfo(zone))
    assert local_time.replace(tzinfo=None) == datetime.fromisoformat(local)


def test_a_day_that_a_country_left_out_means_the_start_of_the_next_one() -> None:
    apia = ZoneInfo("Pacific/Apia")  # went from 29 December 2011 to the 31st
    now = datetime(2011, 12, 29, 12, 0, tzinfo=apia)
    assert when("tomorrow at 09:00", now, apia) == datetime(2011, 12, 31, tzinfo=apia)


@pytest.mark.parametrize("text", ["02:30", "today at 02:30", "sunday at 02:30", "2026-10-25T02:30"])
@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("2026-10-25 00:15", "2026-10-25 00:30"),  # 02:15 for the first time
        ("2026-10-25 00:45", "2026-10-25 01:30"),  # 02:45 for the first time
        ("2026-10-25 01:15", "2026-10-25 01:30"),  # 02:15 for the second time
    ],
)
def test_a_repeated_local_time_means_the_next_one(text: str, now: str, expected: str) -> None:
    assert when(text, utc(now)) == utc(expected)


def test_the_next_such_time_is_the_repeated_one_when_it_is_exactly_the_first() -> None:
    assert when("02:30", utc("2026-10-25 00:30")) == utc("2026-10-25 01:30")
    assert when("today at 02:30", utc("2026-10-25 00:30")) == utc("2026-10-25 00:30")


def test_a_repeated_local_time_is_past_when_both_are() -> None:
    assert "past" in refusal("today at 02:30", utc("2026-10-25 01:31")).message
    assert when("02:30", utc("2026-10-25 01:31")) == utc("2026-10-26 01:30")


@cache
def days_with_changes(zone: ZoneInfo) -> list[date]:
    """The local days of 2025 to 2027 with a clock change, or an ordinary day if there are none."""
    hours = (datetime(2025, 1, 1, tzinfo=UTC) + timedelta(hours=n) for n in range(3 * 365 * 24))
    local = (hour.astimezone(zone) for hour in hours)
    days = {
        day.date()
        for before, after in pairwise(local)
        if before.utcoffset() != after.utcoffset()
        for day in (before, after)
    }
    return sorted(days) or [date(2026, 6, 15)]


def first_instants(day: date, zone: ZoneInfo) -> list[datetime]:
    """What `tomorrow at 00:00`, `00:01`, … must mean, found by watching a local clock go by."""
    midnight = datetime.combine(day, time(0))
    start = midnight.replace(tzinfo=UTC) - timedelta(hours=15)
    watched = [start + timedelta(minutes=number) for number in range(54 * 60)]
    wall_times = [instant.astimezone(zone).replace(tzinfo=None) for instant in watched]
    expected: list[datetime] = []
    position = 0
    for number in range(24 * 60):
        wall = midnight + timedelta(minutes=number)
        while wall_times[position] < wall:
            position += 1
        expected.append(watched[position])
    return expected


@pytest.mark.proof
@pytest.mark.parametrize("name", ZONES)
def test_tomorrow_is_right_for_every_minute_of_every_day_with_a_clock_change(name: str) -> None:
    zone = ZoneInfo(name)
    for day in days_with_changes(zone):
        now = datetime.combine(day - timedelta(days=1), time(12), zone)
        for number, expected in enumerate(first_instants(day, zone)):
            clock = f"{number // 60:02}:{number % 60:02}"
            actual = parse_when(f"tomorrow at {clock}", now, zone)
            assert actual == expected, f"{day} {clock}"
            wall = datetime.combine(day, time.fromisoformat(clock))
            local, just_before = (
                instant.astimezone(zone).replace(tzinfo=None)
                for instant in (actual, actual - timedelta(microseconds=1))
            )
            assert local == wall or just_before < wall < local, f"{day} {clock}"


def test_at_least_six_of_the_zones_set_their_clocks_twice_a_year() -> None:
    assert sum(len(days_with_changes(ZoneInfo(name))) >= 6 for name in ZONES) >= 6


# Whatever the text, the zone and the moment.

INSTANTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
TIMEZONES = st.sampled_from(ZONES).map(ZoneInfo)
WORDS = """
    in an a 1 30 99999999999 w d h m s hours min now today tomorrow on next monday sunday at 9 9pm
    13pm am noon midnight 09:00 02:30 25:00 2026-11-20 2026-02-30 0001-01-01 9999-12-31 T Z +02:00
    -14:00 +15:00 2030-06-01T02:30 : . - and , half two 1.5 from tonight this morning week fri P PT
"""
PHRASES = st.builds(
    str.join, st.sampled_from(["", " "]), st.lists(st.sampled_from(WORDS.split()), max_size=7)
)
CLOCKS = st.times().map(lambda at: f"{at:%H:%M}")
ABSOLUTE = st.one_of(
    CLOCKS,
    st.builds("{} at {}".format, st.sampled_from(["today", "tomorrow", "next friday"]), CLOCKS),
    st.builds("{}T{}".format, st.dates(date(2019, 1, 1), date(2051, 1, 1)), CLOCKS),
    st.builds("{} {}Z".format, st.dates(), CLOCKS),
)


@settings(UNHURRIED, max_examples=500)
@given(text=st.text() | PHRASES | ABSOLUTE, now=INSTANTS, zone=TIMEZONES)
def test_a_text_is_an_instant_from_now_to_ten_years_ahead_or_refused(
    text: str, now: datetime, zone: ZoneInfo
) -> None:
    try:
        instant = parse_when(text, now, zone)
    except InvalidInput as error:
        error.message.encode()
        return
    assert instant.tzinfo is UTC
    assert now <= instant <= now + FURTHEST


@pytest.mark.parametrize("parse", [parse_offset, parse_duration])
@UNHURRIED
@given(text=st.text() | PHRASES)
def test_a_text_is_an_offset_or_a_duration_or_refused(
    parse: Callable[[str], object], text: str
) -> None:
    try:
        parse(text)
    except InvalidInput as error:
        error.message.encode()


@UNHURRIED
@given(clock=CLOCKS, now=INSTANTS, zone=TIMEZONES)
def test_a_time_alone_comes_within_a_day_and_the_hour_of_a_clock_change(
    clock: str, now: datetime, zone: ZoneInfo
) -> None:
    assert now < parse_when(clock, now, zone) <= now + timedelta(hours=25)


@UNHURRIED
@given(at=INSTANTS, days=st.integers(0, 3_600), zone=TIMEZONES)
def test_an_iso_time_survives_being_written_in_a_zone_and_read_in_utc(
    at: datetime, days: int, zone: ZoneInfo
) -> None:
    now = at - timedelta(days=days)
    local = at.astimezone(zone)
    assert parse_when(at.isoformat(), now, zone) == at
    assert parse_when(local.isoformat(), now, UTC) == at
    assert parse_when(f"{at:%Y-%m-%d %H:%M:%S.%f}Z", now, zone) == at
    naive = local.replace(tzinfo=None).isoformat()
    # Of two equal local times, the second is meant only if the first is past.
    assume(local.fold == 0)
    assert parse_when(naive, now, zone) == at


# Descriptions.


@pytest.mark.parametrize(
    ("later", "zone", "expected"),
    [
        ("2h 15m", "Europe/Berlin", "in 2 h 15 min, 2026-11-18 14:15 +01:00 (13:15 UTC)"),
        ("0s", "Europe/Berlin", "now, 2026-11-18 12:00 +01:00 (11:00 UTC)"),
        ("90s", "Europe/Berlin", "in 1 min 30 s, 2026-11-18 12:01:30 +01:00 (11:01:30 UTC)"),
        ("59m 59s", "UTC", "in 59 min 59 s, 2026-11-18 11:59:59 UTC"),
        ("23h 59m 59s", "UTC", "in 1 d, 2026-11-19 10:59:59 UTC"),
        ("1d 6h 1m", "UTC", "in 1 d 6 h, 2026-11-19 17:01 UTC"),
        ("1h", "Pacific/Apia", "in 1 h, 2026-11-19 01:00 +13:00 (2026-11-18 12:00 UTC)"),
        ("30d", "America/New_York", "in 30 d, 2026-12-18 06:00 -05:00 (11:00 UTC)"),
    ],
)
def test_an_instant_is_said_back_with_its_distance_locally_and_in_utc(
    later: str, zone: str, expected: str
) -> None:
    assert describe(when(later), NOW, ZoneInfo(zone)) == expected


def test_an_instant_that_is_over_is_said_to_be_ago() -> None:
    description = describe(NOW - timedelta(minutes=5), NOW, BERLIN)
    assert description == "5 min ago, 2026-11-18 11:55 +01:00 (10:55 UTC)"


def test_the_distance_counts_the_hour_that_a_clock_change_adds() -> None:
    at, now = (datetime(2026, 10, day, 12, tzinfo=BERLIN) for day in (25, 24))
    assert describe(at, now, BERLIN) == "in 1 d 1 h, 2026-10-25 12:00 +01:00 (11:00 UTC)"


@UNHURRIED
@given(at=INSTANTS, days=st.integers(0, 3_600), zone=TIMEZONES)
def test_the_local_time_that_is_said_can_be_given_back(
    at: datetime, days: int, zone: ZoneInfo
) -> None:
    at = at.replace(microsecond=0)
    now = at - timedelta(days=days)
    _, local = describe(at, now, zone).split(", ")
    assert parse_when(local.partition(" (")[0], now, UTC) == at


@given(st.integers(0, FURTHEST // timedelta(seconds=1)))
def test_a_length_is_said_so_that_it_can_be_read_again(seconds: int) -> None:
    length = timedelta(seconds=seconds)
    assert parse_duration(describe_length(length)) == length


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (-5, "0s ago"),
        (0.9, "0s ago"),
        (45, "45s ago"),
        (60, "1m ago"),
        (3_599, "59m ago"),
        (7_200, "2h ago"),
        (86_400 * 40, "40d ago"),
        (86_400 * 75, "2mo ago"),
        (86_400 * 800, "2y ago"),
    ],
)
def test_an_age_is_said_in_its_largest_unit_and_is_never_negative(
    seconds: float, expected: str
) -> None:
    assert describe_age(NOW - timedelta(seconds=seconds), NOW) == expected
