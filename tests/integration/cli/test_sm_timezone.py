from __future__ import annotations

from datetime import UTC
from pathlib import Path

import pytest

from navi.base.errors import InvalidInput, UsageError
from navi.base.timezone import zone_name
from navi.cli.sm.timezone import own_timezone


def name_of(**environment: str) -> str:
    return zone_name(own_timezone({"NAVI_CONFIG": "/nonexistent", **environment}))


def test_the_zone_of_a_person_is_that_of_the_settings_or_of_the_machine(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text('[recalls]\ntimezone = "Asia/Kolkata"\n')
    variables = {"NAVI_RECALLS_TIMEZONE": "Asia/Kathmandu", "TZ": "Asia/Tokyo"}
    assert name_of(NAVI_CONFIG=str(settings), **variables) == "Asia/Kathmandu"
    assert name_of(NAVI_CONFIG=str(settings), TZ="Asia/Tokyo") == "Asia/Kolkata"
    assert name_of(TZ="Asia/Tokyo") == "Asia/Tokyo"


def test_utc_needs_no_database_of_zones() -> None:
    assert own_timezone({"NAVI_RECALLS_TIMEZONE": "UTC"}) is UTC


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no time zone"):
        name_of(NAVI_RECALLS_TIMEZONE="Mars/Olympus")
    settings = tmp_path / "config.toml"
    settings.write_text("[recalls")
    with pytest.raises(UsageError, match="can't read"):
        name_of(NAVI_CONFIG=str(settings))
