from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from navi.base.time_ranges import parse_since, parse_until

NOW = datetime(2026, 11, 18, 11, 0, tzinfo=UTC)  # a Wednesday, 12:00 in Berlin
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("7d", timedelta(days=7)),
        ("24H", timedelta(hours=24)),
        (" 30m ", timedelta(minutes=30)),
        ("1w 2d", timedelta(days=9)),
        ("2 hours", timedelta(hours=2)),
        ("2 hours ago", timedelta(hours=2)),
        ("half an hour", timedelta(minutes=30)),
        ("P1D", timedelta(days=1)),
    ],
)
def test_a_duration_is_counted_back_from_now(text: str, ago: timedelta) -> None:
    assert parse_since(text, NOW) == NOW - ago


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-15", datetime(2026, 1, 15, tzinfo=UTC)),
        ("2026-01-15T10:30:00", datetime(2026, 1, 15, 10, 30, tzinfo=UTC)),
        ("2026-01-15T10:30:00+02:00", datetime(2026, 1, 15, 8, 30, tzinfo=UTC)),
    ],
)
def test_a_date_is_in_utc_unless_it_names_a_zone(text: str, expected: datetime) -> None:
    assert parse_since(text, NOW) == expected


@pytest.mark.parametrize("text", ["", "soon", "9" * 90 + "w", "0001-01-01T00:00+14:00", "7"])
def test_anything_else_is_not_understood(text: str) -> None:
    assert parse_since(text, NOW) is None


def local(*numbers: int) -> datetime:
    return datetime(*numbers, tzinfo=BERLIN)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("today", local(2026, 11, 18)),
        ("Yesterday", local(2026, 11, 17)),
        ("monday", local(2026, 11, 16)),
        ("wed", local(2026, 11, 18)),
        ("thursday", local(2026, 11, 12)),
        ("2026-07-01", local(2026, 7, 1)),
        ("2026-07-01T08:00", local(2026, 7, 1, 8)),
        ("2026-07-01 08:00", local(2026, 7, 1, 8)),
        ("2026-07-01T08:00Z", datetime(2026, 7, 1, 8, tzinfo=UTC)),
        ("09:15", local(2026, 11, 18, 9, 15)),
        ("23:00", local(2026, 11, 17, 23)),
        ("yesterday 14:30", local(2026, 11, 17, 14, 30)),
        ("monday at 8:00", None),
        ("monday at 08:00", local(2026, 11, 16, 8)),
        ("2026-02-30", None),
    ],
)
def test_since_is_read_in_the_local_zone(text: str, first: datetime | None) -> None:
    assert parse_since(text, NOW, BERLIN) == first


def test_until_a_day_includes_that_day() -> None:
    assert parse_until("yesterday", NOW, BERLIN) == local(2026, 11, 18)
    assert parse_until("2026-07-01", NOW, BERLIN) == local(2026, 7, 2)
    assert parse_until("2026-07-01T08:00", NOW, BERLIN) == local(2026, 7, 1, 8)
    assert parse_until("2d", NOW, BERLIN) == NOW - timedelta(days=2)
    assert parse_until("soon", NOW, BERLIN) is None


def test_a_day_on_which_the_clocks_change_is_whole() -> None:
    first, last = (parse("2026-10-25", NOW, BERLIN) for parse in (parse_since, parse_until))
    assert first is not None
    assert last is not None
    assert last - first == timedelta(hours=25)
