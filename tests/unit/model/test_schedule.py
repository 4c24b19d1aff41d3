from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.base.errors import InvalidInput
from navi.live.model.scheduling.limits import LONGEST_SECONDS
from navi.live.model.scheduling.schedule import (
    COUNT_LIMIT,
    At,
    Cron,
    Every,
    Schedule,
    is_equivalent,
    preview,
    require_schedule,
)
from navi.live.model.scheduling.schedule_request import ScheduleRequest
from tests.unit.model.wall_clock import Change, Wall, changes, utc

NOW = utc(2026, 1, 1)
YEAR_END = utc(2027, 1, 1)
AROUND = timedelta(hours=6)
"""So long before and after a change a schedule is looked at."""

AT_SET_TIMES = [
    "0 0 * * *",
    "30 0 * * *",
    "30 1 * * *",
    "15 2 * * *",
    "0 3 * * *",
    "0 9 * * 1-5",
    "10,50 1-3 * * *",
    "45 0-23/2 * * *",
]
IN_REAL_TIME = ["*/15 * * * *", "30 * * * *", "* 2 * * *", "0 */2 * * *", "5 */3 * * *"]

# A loaded machine may make one example slow, which says nothing about the code.
UNHURRIED = settings(deadline=None)


def happens(schedule: Schedule, after: datetime, until: datetime) -> list[datetime]:
    moments: list[datetime] = []
    moment = schedule.next_after(after)
    while moment is not None and moment <= until:
        moments.append(moment)
        moment = schedule.next_after(moment)
    return moments


def of_year() -> list[Change]:
    return changes(NOW, YEAR_END)


def test_there_are_clock_changes_of_all_kinds_to_be_tested_with() -> None:
    by = {change.after - change.before for change in of_year()}
    assert {timedelta(hours=1), timedelta(minutes=30), -timedelta(hours=1)} <= by
    assert len(of_year()) > 20
    # On the hour, and not.
    assert {change.at.minute for change in of_year()} >= {0, 30}


@cache
def wall_around(change: Change) -> Wall:
    return Wall.between(change.zone, change.at - AROUND, change.at + AROUND)


@pytest.mark.parametrize("expr", AT_SET_TIMES + IN_REAL_TIME)
def test_around_every_clock_change_in_the_world_it_happens_as_a_clock_on_the_wall_says(
    expr: str,
) -> None:
    for change in of_year():
        start, end = change.at - AROUND, change.at + AROUND
        expected = [each for each in wall_around(change).occurrences(expr) if each > start]

        actual = happens(Cron(expr, change.zone), start, end - timedelta(minutes=1))

        assert actual == expected, f"{expr} in {change.zone}"


@pytest.mark.parametrize("expr", ["30 0 * * *", "30 1 * * *", "15 2 * * *", "*/20 1-3 * * *"])
def test_what_came_last_and_how_many_came_agree_with_what_comes_next(expr: str) -> None:
    for change in of_year():
        cron = Cron(expr, change.zone)
        occurrences = happens(cron, change.at - timedelta(hours=30), change.at + AROUND)
        for number in range(-15, 16):
            # Once on a minute, once just before one, once just after.
            close = timedelta(microseconds=number % 3 - 1)
            moment = change.at + number * timedelta(minutes=10) + close
            number_passed = bisect_right(occurrences, moment)
            assert cron.latest(moment) == occurrences[number_passed - 1]
        assert cron.count_occurrences(occurrences[0], occurrences[-1]) == len(occurrences)


def test_before_a_repeated_hour_is_over_what_happened_in_its_first_run_came_last() -> None:
    """Going back from the second 01:10, the library finds the 01:30 of the day before."""
    cron = Cron("30 1 * * *", "Europe/London")
    second_ten_past_one = utc(2026, 10, 25, 1, 10)
    assert cron.latest(second_ten_past_one) == utc(2026, 10, 25, 0, 30)


@pytest.mark.parametrize(
    ("expr", "zone", "expected"),
    [
        # Set forward from 02:00 to 03:00.
        ("30 2 * * *", "Europe/Berlin", [utc(2026, 3, 29, 1, 0), utc(2026, 3, 30, 0, 30)]),
        ("0,30 2 * * *", "Europe/Berlin", [utc(2026, 3, 29, 1, 0), utc(2026, 3, 30, 0, 0)]),
        # Set back from 03:00 to 02:00.
        ("30 2 * * *", "Europe/Berlin", [utc(2026, 10, 25, 0, 30), utc(2026, 10, 26, 1, 30)]),
        # Set forward at midnight: the day begins at one.
        ("0 0 * * *", "America/Santiago", [utc(2026, 9, 6, 4, 0), utc(2026, 9, 7, 3, 0)]),
        # Set back by half an hour, from 02:00 to 01:30.
        (
            "45 1 * * *",
            "Australia/Lord_Howe",
            [utc(2026, 4, 4, 14, 45), utc(2026, 4, 5, 15, 15)],
        ),
        # Every two hours of local time, across a clock change.
        (
            "0 */2 * * *",
            "Australia/Lord_Howe",
            [utc(2026, 4, 4, 13, 0), utc(2026, 4, 4, 15, 30), utc(2026, 4, 4, 17, 30)],
        ),
        # Elapsed time has no gaps and no repetitions.
        (
            "*/30 * * * *",
            "Europe/Berlin",
            [utc(2026, 10, 25, 0, 0), utc(2026, 10, 25, 0, 30), utc(2026, 10, 25, 1, 0)],
        ),
        # A zone whose rules changed over the years, and one without clock changes.
        ("0 12 * * *", "Asia/Kathmandu", [utc(2026, 5, 1, 6, 15), utc(2026, 5, 2, 6, 15)]),
        ("0 12 29 2 *", "UTC", [utc(2028, 2, 29, 12), utc(2032, 2, 29, 12)]),
    ],
)
def test_occurrences_are_right_in_hard_cases(
    expr: str, zone: str, expected: list[datetime]
) -> None:
    cron = Cron(expr, zone)
    assert preview(cron, expected[0] - timedelta(seconds=1), len(expected)) == expected
    for earlier, later in pairwise(expected):
        assert cron.latest(later - timedelta(microseconds=1)) == earlier
    assert cron.latest(expected[-1]) == expected[-1]
    assert cron.count_occurrences(expected[0], expected[-1]) == len(expected)


def test_nine_in_new_york_moves_with_its_clocks() -> None:
    cron = Cron("0 9 * * *", "America/New_York")
    assert preview(cron, utc(2026, 3, 6, 20), 4) == [
        utc(2026, 3, 7, 14),
        utc(2026, 3, 8, 13),
        utc(2026, 3, 9, 13),
        utc(2026, 3, 10, 13),
    ]
    assert preview(cron, utc(2026, 10, 31, 12), 3) == [
        utc(2026, 10, 31, 13),
        utc(2026, 11, 1, 14),
        utc(2026, 11, 2, 14),
    ]


FIELDS = st.tuples(
    st.sampled_from(["0", "7", "30", "59", "0,30", "10-20/5", "*/15", "*", "3/20"]),
    st.sampled_from(["0", "1", "2", "3", "23", "1-3", "0-23/4", "*/2", "*"]),
    st.sampled_from(["*", "*", "1-15", "29,30,31", "*/2"]),
    st.sampled_from(["*", "*", "3-4", "10,11"]),
    st.sampled_from(["*", "*", "0", "1-5", "6,7"]),
)


@UNHURRIED
@given(data=st.data(), fields=FIELDS)
def test_from_wherever_one_looks_the_same_comes_next(
    data: st.DataObject, fields: tuple[str, ...]
) -> None:
    expr = " ".join(fields)
    change = data.draw(st.sampled_from(of_year()))
    start, end = change.at - timedelta(hours=26), change.at + timedelta(hours=26)
    occurrences = Wall.between(change.zone, start, end).occurrences(expr)
    seconds = st.floats(0, (end - start - timedelta(hours=2)).total_seconds())
    moment = start + timedelta(hours=1, seconds=data.draw(seconds))
    cron = Cron(expr, change.zone)

    later = [each for each in occurrences if each > moment]
    following = cron.next_after(moment)

    if later:
        assert following == later[0]
    else:
        assert following is None or following >= end
    earlier = [each for each in occurrences if start + timedelta(hours=1) <= each <= moment]
    if earlier:
        assert cron.latest(moment) == earlier[-1]
        assert cron.count_occurrences(earlier[0], moment) == len(earlier)


@UNHURRIED
@given(
    seconds=st.integers(10, LONGEST_SECONDS),
    number=st.integers(1, 1_000_000),
    late=st.integers(0, 10**15),
)
def test_every_so_often_never_drifts(seconds: int, number: int, late: int) -> None:
    period = timedelta(seconds=seconds)
    number = min(number, int(timedelta(days=365_000) / period) or 1)
    every = Every(seconds, NOW)
    occurrence = NOW + number * period

    # However late the look, it counts from the anchor.
    moment = occurrence + timedelta(microseconds=late) % period

    assert every.next_after(moment) == occurrence + period
    assert every.latest(moment) == occurrence
    assert every.count_occurrences(NOW + period, moment) == number
    assert every.next_after(occurrence - timedelta(microseconds=1)) == occurrence


def test_every_so_often_begins_one_period_after_it_was_made() -> None:
    every = Every(3600, NOW)
    assert preview(every, NOW, 2) == [utc(2026, 1, 1, 1), utc(2026, 1, 1, 2)]
    assert every.next_after(NOW - timedelta(days=1)) == utc(2026, 1, 1, 1)


def test_at_an_instant_happens_once() -> None:
    at = At(utc(2026, 5, 1))
    assert preview(at, NOW) == [utc(2026, 5, 1)]
    assert at.next_after(utc(2026, 5, 1)) is None
    assert at.latest(utc(2026, 6, 1)) == utc(2026, 5, 1)
    assert at.count_occurrences(utc(2026, 5, 1), utc(2026, 6, 1)) == 1


def test_an_instant_is_shown_in_its_own_zone_unless_its_reader_has_another() -> None:
    at = At(utc(2026, 7, 1, 7), "Europe/Berlin")
    assert at.in_words() == "once, 2026-07-01 09:00 +02:00 (07:00 UTC)"
    assert at.in_words(ZoneInfo("Asia/Tokyo")) == "once, 2026-07-01 16:00 +09:00 (07:00 UTC)"


def test_an_instant_of_a_zone_that_this_machine_lacks_is_shown_in_utc() -> None:
    at = At(utc(2026, 7, 1, 7), "Mars/Olympus")
    assert at.in_words() == "once, 2026-07-01 07:00 UTC"


def test_a_calendar_may_follow_an_offset() -> None:
    assert Cron("0 9 * * *", "+05:30").next_after(NOW) == utc(2026, 1, 1, 3, 30)


def test_counting_occurrences_stops_at_a_limit() -> None:
    minutely = Cron("* * * * *", "Europe/Berlin")
    assert minutely.count_occurrences(NOW, NOW + timedelta(days=3650)) == COUNT_LIMIT


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"cron_expr": "@Daily"}, Cron("0 0 * * *", "Europe/Berlin")),
        ({"cron_expr": " 0  9 * * mon-fri ", "tz": "UTC"}, Cron("0 9 * * mon-fri", "UTC")),
        ({"cron_expr": "0 9 * * *", "tz": "+05:30"}, Cron("0 9 * * *", "+05:30")),
        ({"every_seconds": 10}, Every(10, NOW)),
        ({"every_seconds": 60, "tz": "Asia/Tokyo"}, Every(60, NOW)),
        ({"at": "2h"}, At(NOW + timedelta(hours=2), "Europe/Berlin")),
        ({"at": "2026-05-01T09:00"}, At(utc(2026, 5, 1, 7), "Europe/Berlin")),
        ({"at": "2026-05-01T09:00", "tz": "Asia/Tokyo"}, At(utc(2026, 5, 1), "Asia/Tokyo")),
        ({"at": "2026-05-01T09:00Z", "tz": "Asia/Tokyo"}, At(utc(2026, 5, 1, 9), "Asia/Tokyo")),
    ],
)
def test_what_people_write_is_understood(arguments: dict[str, Any], expected: Schedule) -> None:
    assert (
        require_schedule(NOW, ZoneInfo("Europe/Berlin"), ScheduleRequest(**arguments)) == expected
    )


@pytest.mark.parametrize(
    ("arguments", "complaint", "hint"),
    [
        ({}, "no schedule given", "give one of"),
        ({"at": "2h", "every_seconds": 60}, "can't be combined", "give one of"),
        ({"at": "2h", "tz": "Mars/Olympus"}, "no time zone", "IANA"),
        ({"every_seconds": 60, "tz": "Mars/Olympus"}, "no time zone", "IANA"),
        ({"at": "2020-01-01T00:00:00Z"}, "", ""),
        ({"at": "whenever"}, "", ""),
        ({"every_seconds": 9}, "every_seconds is 9", "from 10 to 315619200 (10 years)"),
        ({"every_seconds": 315_619_201}, "is 315619201", "from 10 to 315619200 (10 years)"),
        ({"every_seconds": 10**12}, "every_seconds is 1000000000000", "to 315619200 (10 years)"),
        ({"every_seconds": 10**400}, "00…", "to 315619200 (10 years)"),
        ({"cron_expr": "0 9 * *"}, "needs five fields", "minute, hour"),
        ({"cron_expr": "0 0 9 * * *"}, "needs five fields", "minute, hour"),
        ({"cron_expr": "60 9 * * *"}, "expression: check the minute", "minute, hour"),
        ({"cron_expr": "0 24 * * *"}, "expression: check the hour", "minute, hour"),
        ({"cron_expr": "0 9 * * mon-xyz"}, "expression: check the day of week", "minute, hour"),
        ({"cron_expr": "*/0 9 * * *"}, "expression: check the minute", "minute, hour"),
        ({"cron_expr": "@reboot"}, "needs five fields", "minute, hour"),
        ({"cron_expr": "0 ² * * *"}, "expression: check the hour", "minute, hour"),
        ({"cron_expr": "0 9 * *\x00*"}, "NUL", "remove it"),
        ({"cron_expr": "0 9 * * " + ",".join("1" * 200)}, "characters", "at most 200"),
        ({"cron_expr": "0 0 30 2 *"}, "", "minute, hour"),
        ({"cron_expr": "0 0 31 4,6 *"}, "", "minute, hour"),
        ({"cron_expr": "0 9 * * *", "tz": "Mars/Olympus"}, "no time zone", "IANA"),
        ({"cron_expr": "0 9 * * *", "tz": "../etc/passwd"}, "no time zone", "IANA"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(
    arguments: dict[str, Any], complaint: str, hint: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        require_schedule(NOW, ZoneInfo("Europe/Berlin"), ScheduleRequest(**arguments))
    assert complaint in refusal.value.message
    assert refusal.value.hint
    assert hint in refusal.value.hint


@UNHURRIED
@given(
    expr=st.text(st.characters(codec="utf-8"), max_size=30)
    | st.text("0123456789*/,-LW# ", max_size=30)
)
def test_whatever_is_written_is_understood_or_refused(expr: str) -> None:
    try:
        made = require_schedule(NOW, UTC, ScheduleRequest(cron_expr=expr))
    except InvalidInput:
        return
    following = made.next_after(NOW)
    assert following is not None
    assert made.latest(following) == following
    assert made.in_words()


def test_only_the_beat_of_every_matters_to_people() -> None:
    assert is_equivalent(Every(60, NOW), Every(60, YEAR_END))
    assert not is_equivalent(Every(60, NOW), Every(61, NOW))
    assert not is_equivalent(Cron("0 9 * * *", "UTC"), Cron("0 9 * * *", "Europe/Paris"))
    assert not is_equivalent(At(NOW), Every(60, NOW))
