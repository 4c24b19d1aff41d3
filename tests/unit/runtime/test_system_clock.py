from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from navi.base.system_clock import machine_timezone
from navi.base.timezone import zone_name

SetZone = Callable[[str], None]
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.fixture
def set_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[SetZone]:
    """Sets TZ for this process, the C library included."""

    def set_variable(value: str) -> None:
        monkeypatch.setenv("TZ", value)
        time.tzset()

    yield set_variable
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("Europe/Paris", "Europe/Paris"),
        (":Europe/Paris", "Europe/Paris"),
        (":/usr/share/zoneinfo/Europe/Paris", "Europe/Paris"),
        # Rules without a name.
        ("CET-1CEST", "CET"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "CET"),
        ("UTC0", "UTC"),
        ("GMT0BST", "GB"),
        ("JST-9", "Japan"),
        ("NZST-12NZDT", "NZ"),  # the C library puts this zone's summer in July
    ],
)
def test_the_zone_of_the_machine_has_a_name(set_zone: SetZone, variable: str, name: str) -> None:
    set_zone(variable)
    assert zone_name(machine_timezone()) == name


@pytest.mark.parametrize(("variable", "hours"), [("XYZ-2", 2), ("XYZ3", -3), ("XYZ-5:30", 5.5)])
def test_rules_with_unknown_abbreviations_keep_their_offset(
    set_zone: SetZone, variable: str, hours: float
) -> None:
    set_zone(variable)
    offset = NOON.astimezone(machine_timezone()).utcoffset()
    assert offset == timedelta(hours=hours)


def test_rules_with_unknown_abbreviations_keep_their_summer(set_zone: SetZone) -> None:
    set_zone("ABC-1DEF,M3.5.0,M10.5.0/3")
    assert NOON.astimezone(machine_timezone()).utcoffset() == timedelta(hours=2)


def test_rules_that_no_zone_has_count_as_utc(set_zone: SetZone) -> None:
    set_zone("XYZ-3:17")
    assert machine_timezone() is UTC
