from __future__ import annotations

from datetime import UTC, timedelta
from datetime import timezone as fixed_offset
from zoneinfo import ZoneInfo

import pytest

from navi.base.errors import InvalidInput
from navi.base.timezone import parse_timezone, request_timezone, timezone_or_utc, zone_name


def test_a_request_without_a_zone_uses_the_default() -> None:
    assert request_timezone(UTC) is UTC
    assert request_timezone(UTC, "", "") is UTC


def test_a_request_names_its_zone_or_its_offset() -> None:
    assert request_timezone(UTC, "Europe/Paris") == ZoneInfo("Europe/Paris")
    assert request_timezone(UTC, None, "+02:00") == fixed_offset(timedelta(hours=2))


def test_a_zone_and_an_offset_together_are_refused() -> None:
    with pytest.raises(InvalidInput, match="can't be combined"):
        request_timezone(UTC, "Europe/Paris", "+02:00")


@pytest.mark.parametrize(
    "name", ["", "Mars/Olympus", "CEST", "../etc/passwd", "Europe", "\x00", "\ud83d"]
)
def test_an_unknown_zone_is_refused_with_names_that_work(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_timezone(name)
    caught.value.message.encode()
    assert "Europe/Paris" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("europe/paris", "Europe/Paris"),
        ("Paris", "Europe/Paris"),
        ("new york", "America/New_York"),
    ],
)
def test_a_zone_that_is_nearly_right_is_suggested(name: str, suggestion: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_timezone(name)
    assert caught.value.hint == f"did you mean {suggestion}?"


def test_a_stored_zone_that_this_machine_lacks_is_shown_as_utc() -> None:
    assert timezone_or_utc("Europe/Paris") == ZoneInfo("Europe/Paris")
    assert timezone_or_utc("Mars/Olympus") is UTC


def test_an_offset_is_a_zone_too() -> None:
    assert parse_timezone("+02:00") == fixed_offset(timedelta(hours=2))
    with pytest.raises(InvalidInput, match="as an offset from UTC"):
        parse_timezone("+25:00")


@pytest.mark.parametrize("name", ["Europe/Paris", "+05:30", "-05:00", "UTC"])
def test_a_zone_survives_being_stored_by_its_name(name: str) -> None:
    zone = parse_timezone(name)
    assert zone_name(zone) == name
    assert timezone_or_utc(name) == zone
