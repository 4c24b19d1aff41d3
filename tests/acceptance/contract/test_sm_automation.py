"""`sm automation` as a real command against a real server."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.contract.conftest import finished
from tests.acceptance.contract.person import Person
from tests.server import Client

TASK = "Look at app.log. [[say: quiet]]"


def test_it_is_added_shown_paused_resumed_and_removed(person: Person) -> None:
    session_id, name = person.session()
    output = person.run(
        "automation", "add", name, TASK, "--name", "error log", "--cron", "0 9 * * 1-5", "--tz",
        "Europe/Paris", "--max-runs", "3",
    )  # fmt: skip
    assert output.startswith("added error log (")
    assert "at 09:00" in output
    assert "next in " in output
    [made] = person.navi.automations(session_id)
    assert (made["name"], made["max_runs"], made["message"]) == ("error log", 3, TASK)

    details = person.run("automation", "show", made["id"][:8])
    assert TASK in details
    assert details.count(" UTC") == 6
    assert made["id"] in person.run("automation", "list", name)
    assert "paused error log" in person.run("automation", "pause", made["id"])
    assert "  paused\n" in person.run("automation", "show", made["id"])
    assert "resumed error log" in person.run("automation", "resume", made["id"])
    assert "removed error log" in person.run("automation", "remove", made["id"])
    assert person.navi.automations(session_id) == []


def test_times_are_read_and_shown_in_the_zone_of_the_person(person: Person) -> None:
    session_id, name = person.session()
    tokyo, kolkata = person.in_zone("Asia/Tokyo"), person.in_zone("Asia/Kolkata")
    in_tokyo, in_kolkata = "09:00 +09:00 (00:00 UTC)", "05:30 +05:30 (00:00 UTC)"
    add = ("automation", "add", name, TASK)
    assert tokyo.run(*add, "--name", "one", "--at", "tomorrow at 9").count(in_tokyo) == 2
    assert in_tokyo in tokyo.run(*add, "--name", "daily", "--cron", "0 9 * * *")
    assert in_tokyo in tokyo.run(*add, "--at", "tomorrow at 9", "--preview")
    assert in_tokyo in kolkata.run(*add, "--at", "tomorrow at 9", "--tz", "Asia/Tokyo")

    one, daily, _ = person.navi.automations(session_id)
    assert (one["schedule"]["tz"], daily["schedule"]["tz"]) == ("Asia/Tokyo", "Asia/Tokyo")
    assert kolkata.run("automation", "show", one["id"]).count(in_kolkata) == 2
    assert kolkata.run("automation", "show", daily["id"]).count(in_kolkata) == 6
    assert in_kolkata in kolkata.run("automation", "list", name)
    kolkata.run("automation", "pause", daily["id"])
    assert in_kolkata in kolkata.run("automation", "resume", daily["id"])


def test_a_preview_adds_nothing(person: Person) -> None:
    session_id, name = person.session()
    output = person.run("automation", "add", name, TASK, "--every", "15m", "--preview")
    assert output.startswith("every 15 min\n")
    assert output.count(" UTC") == 5
    assert person.navi.automations(session_id) == []


async def test_its_runs_are_listed_with_how_they_ended(person: Person, client: Client) -> None:
    session_id, name = person.session()
    person.run("automation", "add", name, "[[fail: no such host]]", "--at", "now")
    await finished(client, session_id)
    [made] = json.loads(person.run("automation", "list", name, "--json"))
    runs = person.run("automation", "runs", made["id"])
    assert "failed" in runs
    assert "  no such host  " in runs
    assert "AgentFailed" not in runs
    [run] = json.loads(person.run("automation", "runs", made["id"], "--json"))
    assert "AgentFailed: no such host" in run["error"]


async def test_a_run_at_a_usage_limit_is_listed_as_what_it_is(
    person: Person, client: Client
) -> None:
    session_id, name = person.session()
    person.run("automation", "add", name, "[[limit: 60]]", "--at", "now")
    await finished(client, session_id)
    [made] = json.loads(person.run("automation", "list", name, "--json"))
    [run] = json.loads(person.run("automation", "runs", made["id"], "--json"))
    assert (run["state"], run["outcome"]) == ("queued", "limit")
    assert "usage limit" in run["error"]
    head, row = person.run("automation", "runs", made["id"]).splitlines()
    assert "OUTCOME" in head
    assert " limit " in row
    assert "last: limit: the script's usage limit" in person.run("automation", "show", made["id"])
    person.run("automation", "remove", made["id"])
    person.run("limit", "--ignore")


async def test_one_that_has_run_is_edited_and_waits_again(person: Person, client: Client) -> None:
    session_id, name = person.session()
    person.run("automation", "add", name, TASK, "--name", "release", "--at", "now")
    await finished(client, session_id)
    [made] = person.navi.automations(session_id)
    assert "`sm automation edit`" in person.refused("automation", "resume", made["id"])

    output = person.run("automation", "edit", made["id"], "--at", "1h", "--name", "next release")

    assert output.startswith("changed next release (")
    assert "next in 1 h" in output
    [edited] = person.navi.automations(session_id)
    assert (edited["enabled"], edited["ended"], edited["message"]) == (True, None, TASK)


def test_what_is_edited_changes_and_the_rest_stays(person: Person) -> None:
    session_id, name = person.session()
    person.run(
        "automation", "add", name, TASK, "--name", "log", "--cron", "0 9 * * *", "--tz",
        "Europe/Paris", "--max-runs", "3",
    )  # fmt: skip
    [made] = person.navi.automations(session_id)
    own = ("automation", "edit", made["id"])
    person.run(*own, "--message", "Look at new.log.", "--cron", "0 8 * * *", "--catch-up", "skip")
    changed = json.loads(person.run(*own, "--max-failures", "2", "--disable", "--json"))
    assert changed["schedule"] | {"cron_expr": "0 9 * * *"} == made["schedule"]
    assert (changed["message"], changed["name"]) == ("Look at new.log.", "log")
    assert (changed["max_runs"], changed["max_failures"]) == (3, 2)
    assert (changed["catch_up"], changed["enabled"]) == ("skip", False)
    assert "next in " in person.run(*own, "--every", "2h", "--enable")
    limits = ("--expires", "1d", "--time-limit", "5m")
    changed = json.loads(person.run(*own, *limits, "--json"))
    assert changed["expires_at"]
    assert changed["time_limit_seconds"] == 300
    no_limits = ("--max-runs", "none", "--expires", "none", "--time-limit", "none")
    changed = json.loads(person.run(*own, *no_limits, "--json"))
    assert (changed["max_runs"], changed["expires_at"]) == (None, None)
    assert changed["time_limit_seconds"] is None
    assert "is not a number" in person.refused(*own, "--max-failures", "none", code=2)
    assert "nothing to change" in person.refused(*own, code=2)


def test_what_is_edited_is_read_in_the_zone_of_the_person_but_a_calendar_keeps_its_own(
    person: Person,
) -> None:
    session_id, name = person.session()
    tokyo = person.in_zone("Asia/Tokyo")
    add = ("automation", "add", name, TASK)
    person.run(*add, "--name", "daily", "--cron", "0 9 * * *", "--tz", "Europe/Paris")
    person.run(*add, "--name", "one", "--at", "1h", "--tz", "Europe/Paris")
    daily, one = person.navi.automations(session_id)
    in_tokyo = "09:00 +09:00 (00:00 UTC)"
    assert in_tokyo in tokyo.run("automation", "edit", one["id"], "--at", "tomorrow at 9")
    tokyo.run("automation", "edit", daily["id"], "--cron", "0 8 * * *")
    daily, one = person.navi.automations(session_id)
    assert (daily["schedule"]["tz"], one["schedule"]["tz"]) == ("Europe/Paris", "Asia/Tokyo")
    tokyo.run("automation", "edit", daily["id"], "--tz", "Asia/Tokyo")
    assert person.navi.automations(session_id)[0]["schedule"]["tz"] == "Asia/Tokyo"


async def test_the_runs_of_a_removed_one_are_still_shown(person: Person, client: Client) -> None:
    session_id, name = person.session()
    person.run("automation", "add", name, TASK, "--at", "now")
    await finished(client, session_id)
    [made] = person.navi.automations(session_id)
    person.run("automation", "remove", made["id"])
    assert "turn_completed" in person.run("automation", "runs", made["id"])
    assert "there is no automation" in person.refused("automation", "runs", "nope")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--every", "9s"), 'the shortest is "10s", the longest 10 years'),
        (("--every", "11y"), "can't read"),
        (("--every", "600w"), "longer than 10 years"),
        (("--every", "1h", "--max-runs", "0"), "--max-runs is 0\nhint: use a number from 1 to"),
        (("--every", "1h", "--max-failures", "1000001"), "from 1 to 1000000"),
        (("--every", "1h", "--time-limit", "0s"), 'the shortest is "1s", the longest 10 years'),
    ],
)
def test_a_limit_is_shown_in_the_words_of_the_command(
    person: Person, options: tuple[str, ...], words: str
) -> None:
    _, name = person.session()
    assert words in person.refused("automation", "add", name, TASK, *options)


def test_what_makes_no_sense_is_refused_with_a_hint(person: Person) -> None:
    _, name = person.session()
    assert "no schedule" in person.refused("automation", "add", name, TASK)
    assert "five fields" in person.refused("automation", "add", name, TASK, "--cron", "9 * *")
    assert "there is no time zone" in person.refused(
        "automation", "add", name, TASK, "--at", "1h", "--tz", "Mars/Olympus"
    )
    assert "there is no automation" in person.refused("automation", "show", "nope")
