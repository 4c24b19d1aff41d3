from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from navi.domain.since import parse_since

NOW = datetime(2026, 11, 18, 11, 0, tzinfo=UTC)


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
