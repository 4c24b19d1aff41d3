"""`navi when`, without a server."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from tests.integration.cli.command_runs import Finished, navi


def when(*arguments: str, **environment: str) -> Finished:
    return navi("when", *arguments, **environment)


def test_a_time_is_said_back_with_its_distance_locally_and_in_utc() -> None:
    finished = when("tomorrow at 9", "--timezone", "-05:00")
    assert finished.returncode == 0
    (line,) = finished.stdout.splitlines()
    assert line.startswith("in ")
    assert line.endswith(" 09:00 -05:00 (14:00 UTC)")


def test_quotes_may_be_left_out() -> None:
    assert when("tomorrow", "at", "9", "--timezone", "+02:00").stdout.endswith("(07:00 UTC)\n")


@pytest.mark.parametrize("option", ["--tz", "--timezone"])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "+09:00"])
def test_a_zone_may_be_named_or_given_as_an_offset(option: str, zone: str) -> None:
    assert when("tomorrow", "at", "9", option, zone).stdout.endswith("+09:00 (00:00 UTC)\n")


def test_the_zone_is_the_one_of_the_settings() -> None:
    assert "+05:45" in when("1h", NAVI_RECALLS_TIMEZONE="Asia/Kathmandu").stdout


def test_the_next_five_beats_are_said_too() -> None:
    lines = when("2h", "--every", "15m").stdout.splitlines()
    assert lines[0].startswith("in 2 h, ")
    assert lines[1] == "then every 15 min:"
    distances = [line.strip().split(",")[0] for line in lines[2:]]
    assert distances == [
        "in 2 h 15 min",
        "in 2 h 30 min",
        "in 2 h 45 min",
        "in 3 h",
        "in 3 h 15 min",
    ]


def test_json_holds_the_instants_and_keeps_the_beat() -> None:
    output = json.loads(when("--every", "90s", "--json").stdout)
    instants = [datetime.fromisoformat(each["trigger_at"]) for each in (output, *output["beats"])]
    steps = {after - before for before, after in pairwise(instants)}
    assert steps == {timedelta(seconds=90)}
    assert output["interval_seconds"] == 90
    assert output["reading"].startswith("in 1 min 30 s, ")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["soonish"], 1),
        (["2020-01-01T10:00"], 1),
        (["1h", "--every", "0s"], 1),
        (["1h", "--every", "often"], 1),
        (["1h", "--timezone", "Mars/Olympus"], 1),
        (["1h", "--tz", "+25:00"], 1),
        (["1h", "--tz", "UTC", "--timezone", "+00:00"], 2),
        ([], 2),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_would_work(
    arguments: list[str], code: int
) -> None:
    finished = when(*arguments, "--json")
    assert (finished.returncode, finished.stdout) == (code, "")
    error, hint = finished.stderr.splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
