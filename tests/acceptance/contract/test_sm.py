"""`sm` as a real command against a real server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.acceptance.contract.conftest import finished
from tests.acceptance.contract.person import Person
from tests.server import Client

TASK = "Read build.log"


def test_a_recall_is_scheduled_and_its_time_said_back(person: Person) -> None:
    session_id, name = person.session()
    output = person.run("recall", name, "30m", TASK, "--comment", "why")
    assert output.startswith(f"{name} ({session_id}) wakes in 30 min, ")
    assert output.endswith(" UTC\n")
    assert output.count("UTC") == 1
    recall = person.navi.recall(session_id)
    assert (recall["call_type"], recall["internal_comment"]) == ("once", "why")


def test_the_beginning_of_an_id_is_enough(person: Person) -> None:
    session_id, name = person.session()
    assert name in person.run("recall", session_id[:12], "30m", TASK)
    assert name in person.run("recall", session_id)


def test_a_time_is_read_in_the_zone_that_is_given(person: Person) -> None:
    session_id, name = person.session()
    output = person.run("recall", name, "tomorrow at 9", TASK, "--timezone", "-05:00")
    assert "09:00 -05:00 (14:00 UTC)" in output
    assert person.navi.recall(session_id)["trigger_at"].endswith("T14:00:00.000Z")
    assert "23:00 +09:00 (14:00 UTC)" in person.run("recall", name, "--timezone", "+09:00")


def test_times_are_read_and_shown_in_the_zone_of_the_person(person: Person) -> None:
    session_id, name = person.session()
    tokyo = person.in_zone("Asia/Tokyo")
    output = tokyo.run("recall", name, "tomorrow at 9", TASK, "--every", "1d")
    assert "09:00 +09:00 (00:00 UTC)" in output
    assert person.navi.recall(session_id)["trigger_at"].endswith("T00:00:00.000Z")
    assert "09:00 +09:00 (00:00 UTC)" in tokyo.run("recall", name)
    assert "09:00 +09:00 (00:00 UTC)" in tokyo.refused("recall", name, "1h", TASK)
    assert "09:00 +09:00 (00:00 UTC)" in tokyo.run("recall", name, "--skip")
    assert "09:00 +09:00 (00:00 UTC)" in tokyo.run("recall", name, "--list")
    assert "05:30 +05:30 (00:00 UTC)" in tokyo.run("recall", name, "--tz", "Asia/Kolkata")


def test_a_zone_of_the_settings_goes_before_that_of_the_machine(
    person: Person, tmp_path: Path
) -> None:
    _, name = person.session()
    settings = tmp_path / "config.toml"
    settings.write_text('[recalls]\ntimezone = "Asia/Kolkata"\n')
    chosen = person.with_environment(NAVI_CONFIG=str(settings))
    output = chosen.in_zone("Asia/Tokyo").run("recall", name, "tomorrow at 9", TASK)
    assert "09:00 +05:30 (03:30 UTC)" in output


@pytest.mark.parametrize("option", ["--tz", "--timezone"])
def test_a_zone_and_an_offset_are_both_read_by_both_options(person: Person, option: str) -> None:
    _, name = person.session()
    when = ["recall", name, "tomorrow at 9", TASK, "--every", "1d", option]
    assert "09:00 +09:00 (00:00 UTC)" in person.run(*when, "Asia/Tokyo")
    assert "09:00 +09:00 (00:00 UTC)" in person.run("recall", name, option, "+09:00")


def test_two_zones_are_refused(person: Person) -> None:
    _, name = person.session()
    arguments = ["recall", name, "1h", TASK, "--tz", "Asia/Tokyo", "--timezone", "+09:00"]
    refusal = person.refused(*arguments, code=2)
    assert "more than one time zone: Asia/Tokyo and +09:00" in refusal


def test_an_unknown_zone_is_refused_with_one_that_exists(person: Person) -> None:
    _, name = person.session()
    refusal = person.refused("recall", name, "1h", TASK, "--tz", "Tokyo")
    assert "there is no time zone 'Tokyo'" in refusal
    assert "did you mean Asia/Tokyo?" in refusal


def test_a_recall_on_a_beat_is_skipped_shown_and_cancelled(person: Person) -> None:
    session_id, name = person.session()
    assert ", then every 15 min\n" in person.run("recall", name, "1h", TASK, "--every", "15m")
    skipped = person.run("recall", name, "--skip")
    assert skipped.startswith(f"skipped one wake-up; {name} ({session_id}) wakes in 1 h 15 min, ")
    assert TASK in person.run("recall", name)
    cancelled = person.run("recall", name, "--cancel")
    assert cancelled == f"cancelled; {name} ({session_id}) no longer wakes for: {TASK}\n"
    assert "has no pending recall" in person.refused("recall", name)


async def test_a_failed_recall_looks_different_from_a_cancelled_one(
    person: Person, client: Client
) -> None:
    session_id, name = person.session()
    person.run("recall", name, "1h", TASK)
    person.run("recall", name, "--cancel")
    person.run("recall", name, "--now", "[[fail: out of paper]] print report.pdf")
    await finished(client, session_id)

    head, failed, cancelled = person.run("recall", name, "--list").splitlines()

    assert head.split() == ["STATUS", "TYPE", "WHEN", "RESULT", "INSTRUCTION"]
    assert "out of paper" in failed
    assert "immediate" in failed
    assert TASK in cancelled
    # It will never fire, so its distance is meaningless.
    assert " in 1 h" not in cancelled


async def test_a_recall_that_met_a_usage_limit_is_pending_and_says_why(
    person: Person, client: Client
) -> None:
    session_id, name = person.session()
    person.run("recall", name, "--now", "[[say: I try]] [[limit: 3600]] print report.pdf")
    await finished(client, session_id)

    output = person.run("recall", name)
    assert re.search(r" wakes in (1 h|59 min|60 min)", output)
    assert "its last turn hit a usage limit: the script's usage limit is reached" in output
    _, row = person.run("recall", name, "--list").splitlines()
    assert row.startswith("pending ")
    assert "limit, the script's usage limit is reached" in row
    person.run("limit", "--ignore")


def test_a_weak_instruction_is_taken_with_a_warning(person: Person) -> None:
    _, name = person.session()
    done = person.sm("recall", name, "2h", "tell the user that it is time")
    assert done.returncode == 0
    assert "wakes in 2 h" in done.stdout
    assert done.stderr.startswith("warning: ")


def test_json_is_what_the_server_said_and_nothing_else(person: Person) -> None:
    session_id, name = person.session()
    done = person.sm("recall", name, "2h", "tell the user that it is time", "--json")
    made = json.loads(done.stdout)
    assert made["warning"]
    assert done.stderr == ""
    pending = person.navi.recall(session_id)
    assert {key: made[key] for key in pending} == pending
    assert json.loads(person.run("recall", name, "--json")) == pending
    assert json.loads(person.run("recall", name, "--list", "--json")) == [pending]
    assert json.loads(person.run("recall", name, "--cancel", "--json"))["status"] == "cancelled"


def test_what_the_server_refuses_is_said_in_its_words(person: Person) -> None:
    _, name = person.session()
    assert "can't read 'soonish' as a time" in person.refused("recall", name, "soonish", TASK)
    person.run("recall", name, "1h", TASK)
    assert "is already scheduled to wake at" in person.refused("recall", name, "1h", TASK)
    assert "only a recurring recall can be skipped" in person.refused("recall", name, "--skip")


def test_a_session_that_nobody_knows_is_refused(person: Person) -> None:
    for text in ("nobody-has-this-name", "0123456789abcdef"):
        assert f"there is no session '{text}'" in person.refused("recall", text, "1h", TASK)


def test_status_shows_each_session_and_what_wakes_it_next(person: Person) -> None:
    session_id, name = person.session()
    waking_id, waking = person.session()
    person.run("recall", waking, "1h", TASK, "--every", "1d")
    person.run("automation", "add", waking, TASK, "--name", "error log", "--every", "30m")

    head, *lines = person.run("status").splitlines()

    assert head.split() == ["SESSION", "STATE", "ACTIVE", "STATUS", "NEXT", "ID"]
    (quiet_line,) = [line for line in lines if session_id in line]
    quiet = rf"{name} idle \d+[sm] ago - - {session_id}"
    assert re.fullmatch(quiet, _spaced(quiet_line))
    (waking_line,) = [line for line in lines if waking_id in line]
    left = r"in (30 min( 1 s)?|29 min \d+ s)"
    assert re.search(rf" idle \d+[sm] ago - {left}: error log {waking_id}$", _spaced(waking_line))


def test_status_in_json_is_the_servers_list(person: Person) -> None:
    session_id, _ = person.session()
    listed = json.loads(person.run("status", "--json"))
    assert person.navi.session(session_id) in listed


def _spaced(line: str) -> str:
    """Without the padding, which depends on the sessions of other tests."""
    return " ".join(line.split())
