from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest

from tests.acceptance.contract.conftest import finished, receive_until
from tests.server import Client, ServerProcess

FIELDS = "id name session_key schedule message enabled next_run_at last_run_at last_status"
RUN_FIELDS = (
    "id automation_id state due_at queued_at started_at ended_at prompt_ref rendered_prompt "
    "prompt_variables error response_message_id outcome"
)
DAILY = {
    "name": "daily monitor",
    "message": "Look at error.log. [[say: quiet]]",
    "cron_expr": "0 9 * * *",
    "tz": "America/New_York",
}
SOON = {"name": "soon", "message": "Look at error.log. [[say: quiet]]", "at": "now"}


async def test_an_automation_has_the_fields_of_the_contract(client: Client) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/automations"
    made = await client.call("POST", path, DAILY, expect=201)
    assert set(FIELDS.split()) <= set(made)
    assert (made["session_key"], made["enabled"], made["category"]) == (session_id, True, "bound")
    assert made["schedule"] == {
        "kind": "cron",
        "at": None,
        "every_seconds": None,
        "cron_expr": "0 9 * * *",
        "tz": "America/New_York",
    }
    assert await client.call("GET", path) == [made]
    assert await client.call("GET", f"/automations/{made['id']}") == made
    assert made in await client.call("GET", "/automations")


async def test_a_run_is_on_record_with_the_prompt_that_the_transcript_names(
    client: Client,
) -> None:
    session_id = await client.session()
    made = await client.call("POST", f"/sessions/{session_id}/automations", SOON, expect=201)
    frames = await finished(client, session_id)
    assert [f["origin"] for f in frames if f["type"] == "stream_start"] == ["automation"]
    updates = [f["automation"]["last_status"] for f in frames if f["type"] == "automation_update"]
    assert updates[-1] == "ok"

    [run] = await client.call("GET", f"/automations/{made['id']}/runs")
    assert set(RUN_FIELDS.split()) <= set(run)
    assert run["state"] == "turn_completed"
    assert await client.call("GET", f"/automation-runs/{run['id']}") == run
    trigger, answer = await client.call("GET", f"/sessions/{session_id}/messages")
    assert trigger["metadata"]["automation_prompt_ref"] == run["prompt_ref"]
    digest = hashlib.sha256(run["rendered_prompt"].encode()).hexdigest()
    assert run["prompt_ref"]["sha256"] == digest
    assert run["response_message_id"] == answer["id"]
    done = await client.call("GET", f"/automations/{made['id']}")
    assert (done["last_status"], done["enabled"], done["ended"]) == ("ok", False, "done")


async def test_a_preview_says_what_a_schedule_means_and_stores_nothing(client: Client) -> None:
    body = {"cron_expr": "0 9 * * 1-5", "tz": "Europe/Paris", "count": 3}
    preview = await client.call("POST", "/automations/preview", body)
    assert len(preview["next"]) == 3
    assert "Monday through Friday" in preview["schedule_words"]
    error = (await client.call("POST", "/automations/preview", {"cron_expr": "x"}, expect=422))[
        "error"
    ]
    assert "minute, hour, day, month and weekday" in error["hint"]


async def test_a_single_run_is_read_in_its_zone_and_shown_in_the_zone_of_the_reader(
    client: Client,
) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/automations"
    day = f"{datetime.now(UTC).year + 1}-07-15"
    schedule = {"at": f"{day}T09:00", "tz": "Europe/Berlin"}
    in_berlin = f"once, {day} 09:00 +02:00 (07:00 UTC)"
    in_tokyo = f"once, {day} 16:00 +09:00 (07:00 UTC)"

    preview = await client.call("POST", "/automations/preview", schedule)
    assert preview["schedule_words"] == in_berlin

    body = {"name": "release", "message": "Read plan.md.", **schedule}
    made = await client.call("POST", path, body, expect=201)
    assert made["next_run_at"] == preview["next"][0] == f"{day}T07:00:00.000Z"
    assert (made["schedule"]["tz"], made["schedule_words"]) == ("Europe/Berlin", in_berlin)

    own = f"/automations/{made['id']}"
    assert (await client.call("GET", own))["schedule_words"] == in_berlin
    for where in (path, "/automations"):
        listed = await client.call("GET", f"{where}?tz=Asia/Tokyo")
        assert in_tokyo in [each["schedule_words"] for each in listed]
    assert (await client.call("GET", f"{own}?tz=Asia/Tokyo"))["schedule_words"] == in_tokyo
    renamed = await client.call("PATCH", f"{own}?tz=Asia/Tokyo", {"name": "release 2"})
    assert renamed["schedule_words"] == in_tokyo
    error = (await client.call("GET", f"{own}?tz=Mars/Olympus", expect=422))["error"]
    assert "IANA" in error["hint"]

    moved = await client.call("PATCH", own, {"at": f"{day}T09:00", "tz": "Asia/Tokyo"})
    assert moved["next_run_at"] == f"{day}T00:00:00.000Z"
    assert moved["schedule_words"] == f"once, {day} 09:00 +09:00 (00:00 UTC)"


async def test_the_end_of_an_automation_is_read_in_the_zone_of_the_request(client: Client) -> None:
    session_id = await client.session()
    end = f"{datetime.now(UTC).year + 1}-07-15"
    body = {"name": "ping", "message": "Look.", "every_seconds": 3600, "expires_at": f"{end}T09:00"}
    path = f"/sessions/{session_id}/automations"
    made = await client.call("POST", path, {**body, "tz": "Europe/Berlin"}, expect=201)
    assert made["expires_at"] == f"{end}T07:00:00.000Z"
    changes = {"expires_at": f"{end}T09:00", "tz": "Asia/Tokyo"}
    changed = await client.call("PATCH", f"/automations/{made['id']}", changes)
    assert changed["expires_at"] == f"{end}T00:00:00.000Z"
    assert changed["next_run_at"] == made["next_run_at"]


async def test_a_zone_that_would_change_nothing_is_refused(client: Client) -> None:
    session_id = await client.session()
    hourly = {"name": "hourly", "message": "Look.", "every_seconds": 3600}
    made = await client.call("POST", f"/sessions/{session_id}/automations", hourly, expect=201)
    changes = {"name": "new", "tz": "Asia/Tokyo"}
    error = (await client.call("PATCH", f"/automations/{made['id']}", changes, expect=422))["error"]
    assert "cron_expr" in error["hint"]
    assert await client.call("GET", f"/automations/{made['id']}") == made


async def test_an_automation_is_paused_changed_and_removed(client: Client) -> None:
    session_id = await client.session()
    made = await client.call("POST", f"/sessions/{session_id}/automations", DAILY, expect=201)
    path = f"/automations/{made['id']}"
    paused = await client.call("PATCH", path, {"enabled": False})
    assert (paused["enabled"], paused["next_run_at"]) == (False, None)
    changed = await client.call(
        "PATCH", path, {"enabled": True, "name": "hourly", "every_seconds": 3600}
    )
    assert (changed["name"], changed["schedule"]["kind"]) == ("hourly", "every")
    assert changed["next_run_at"] is not None
    await client.call("PATCH", path, {}, expect=422)
    await client.call("PATCH", path, {"every_seconds": 1}, expect=422)
    assert await client.call("DELETE", path) == {"deleted": True}
    error = (await client.call("GET", path, expect=404))["error"]
    assert error["kind"] == "automation_not_found"


async def test_a_one_shot_that_has_run_is_renamed_and_then_scheduled_again(
    client: Client,
) -> None:
    session_id = await client.session()
    made = await client.call("POST", f"/sessions/{session_id}/automations", SOON, expect=201)
    await finished(client, session_id)
    path = f"/automations/{made['id']}"
    # As a form does: with a time that has passed.
    sent = {"name": "renamed", "message": "Look again.", "at": made["schedule"]["at"]}
    renamed = await client.call("PATCH", path, sent)
    assert (renamed["name"], renamed["message"]) == ("renamed", "Look again.")
    assert (renamed["enabled"], renamed["ended"], renamed["next_run_at"]) == (False, "done", None)
    error = (await client.call("PATCH", path, {"enabled": True}, expect=422))["error"]
    assert error["hint"] == "give it a new time with at, every_seconds or cron_expr"
    blocked = await client.call("DELETE", f"/sessions/{session_id}", expect=409)
    assert [each["ended"] for each in blocked["automations"]] == ["done"]
    assert "renamed (done)" in blocked["error"]["message"]

    again = await client.call("PATCH", path, {"at": "1h"})

    assert (again["enabled"], again["ended"]) == (True, None)
    assert again["next_run_at"] == again["schedule"]["at"] > made["schedule"]["at"]


async def test_a_form_that_sends_an_interval_again_does_not_shift_it(client: Client) -> None:
    session_id = await client.session()
    hourly = {"name": "hourly", "message": "Look.", "every_seconds": 3600}
    made = await client.call("POST", f"/sessions/{session_id}/automations", hourly, expect=201)
    sent = {"name": "renamed", "message": "Look.", "catch_up": "once", "every_seconds": 3600}
    renamed = await client.call("PATCH", f"/automations/{made['id']}", sent)
    assert (renamed["name"], renamed["next_run_at"]) == ("renamed", made["next_run_at"])


async def test_the_zone_and_the_expression_of_a_calendar_can_be_changed_alone(
    client: Client,
) -> None:
    session_id = await client.session()
    made = await client.call("POST", f"/sessions/{session_id}/automations", DAILY, expect=201)
    path = f"/automations/{made['id']}"
    later = await client.call("PATCH", path, {"cron_expr": "0 10 * * *"})
    moved = await client.call("PATCH", path, {"tz": "Europe/Paris"})
    assert (later["schedule"]["cron_expr"], later["schedule"]["tz"]) == (
        "0 10 * * *", "America/New_York",
    )  # fmt: skip
    assert (moved["schedule"]["cron_expr"], moved["schedule"]["tz"]) == (
        "0 10 * * *", "Europe/Paris",
    )  # fmt: skip


async def test_the_runs_of_a_removed_automation_stay_readable(client: Client) -> None:
    session_id = await client.session()
    made = await client.call("POST", f"/sessions/{session_id}/automations", SOON, expect=201)
    await finished(client, session_id)
    await client.call("DELETE", f"/automations/{made['id']}")
    [run] = await client.call("GET", f"/automations/{made['id']}/runs")
    assert run["state"] == "turn_completed"
    assert await client.call("GET", f"/automation-runs/{run['id']}") == run
    await client.call("GET", "/automations/nobody/runs", expect=404)


async def test_a_hidden_session_takes_no_work_from_people(client: Client) -> None:
    path = "/sessions/cron:dream"
    recall = {"call_type": "immediate", "additional_context_message": "Read a.log"}
    reminder = {"session_id": "cron:dream", "delay_seconds": 5, "message": "look"}
    for call, body in (
        (f"{path}/input", {"text": "hello"}),
        (f"{path}/recall", recall),
        (f"{path}/automations", SOON),
        (f"{path}/remind", {}),
        ("/scheduler/remind", reminder),
    ):
        error = (await client.call("POST", call, body, expect=403))["error"]
        assert error["kind"] == "hidden_session"
        assert error["hint"] == "the setting [automations] dream switches it on and off"


async def test_deleting_a_session_is_blocked_with_the_answer_of_the_contract(
    client: Client,
) -> None:
    session_id = await client.session()
    made = await client.call("POST", f"/sessions/{session_id}/automations", DAILY, expect=201)
    blocked = await client.call("DELETE", f"/sessions/{session_id}", expect=409)
    assert (blocked["deleted"], blocked["blocked_by_automations"]) == (False, True)
    assert blocked["automations"] == [
        {"id": made["id"], "name": "daily monitor", "enabled": True, "ended": None}
    ]
    path = f"/sessions/{session_id}?delete_automations=true"
    assert await client.call("DELETE", path) == {"deleted": True}
    await client.call("GET", f"/automations/{made['id']}", expect=404)


async def test_system_automations_are_listed_and_cannot_be_touched(client: Client) -> None:
    listed = {each["id"]: each for each in await client.call("GET", "/automations")}
    assert listed["heartbeat"]["category"] == listed["dream"]["category"] == "system"
    for method, body in (("PATCH", {"enabled": True}), ("DELETE", None)):
        error = (await client.call(method, "/automations/dream", body, expect=403))["error"]
        assert error["kind"] == "system_automation"
    sessions = await client.call("GET", "/sessions")
    assert [each for each in sessions if each["id"].startswith("cron:")] == []


async def test_an_agent_adds_lists_and_removes_its_own(client: Client) -> None:
    session_id = await client.session()
    calls = [
        {"action": "add", "name": "log", "message": "Look.", "every_seconds": 60, "deliver": True},
        {"action": "list"},
    ]
    for call in calls:
        await client.say(session_id, f"[[tool: cron | {json.dumps(call)}]]")
    frames = await finished(client, session_id, 2)
    results = [f["result"] for f in frames if f["type"] == "tool_call"]
    assert results[0].startswith("Added log (")
    [made] = await client.call("GET", f"/sessions/{session_id}/automations")
    assert made["id"] in results[1]

    other = await client.session()
    removal = {"action": "remove", "job_id": made["id"]}
    await client.say(other, f"[[tool: cron | {json.dumps(removal)}]]")
    frames = await finished(client, other)
    [refused] = [f for f in frames if f["type"] == "tool_call"]
    assert refused["is_error"]
    await client.say(session_id, f"[[tool: cron | {json.dumps(removal)}]]")
    await finished(client, session_id, 3)
    assert await client.call("GET", f"/sessions/{session_id}/automations") == []


async def test_an_automation_cannot_create_another(client: Client) -> None:
    session_id = await client.session()
    call = {"action": "add", "name": "again", "message": "Look.", "every_seconds": 60}
    body = {**SOON, "message": f"[[tool: cron | {json.dumps(call)}]]"}
    made = await client.call("POST", f"/sessions/{session_id}/automations", body, expect=201)
    frames = await finished(client, session_id)
    [refused] = [f for f in frames if f["type"] == "tool_call"]
    assert refused["is_error"]
    assert "automation" in refused["result"]
    listed = await client.call("GET", f"/sessions/{session_id}/automations")
    assert [each["id"] for each in listed] == [made["id"]]


async def test_what_was_scheduled_cannot_be_reworded_in_the_queue(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "[[sleep: 60]]")
    await client.call("POST", f"/sessions/{session_id}/automations", SOON, expect=201)
    async with client.watch(session_id, after=0) as socket:
        waiting = None
        while waiting is None or waiting["origin"] != "automation":
            waiting = (await receive_until(socket, "input_queued"))[-1]["input"]
    path = f"/sessions/{session_id}/queue/{waiting['id']}"
    await client.call("PATCH", path, {"text": "something else"}, expect=409)
    await client.call("DELETE", path)
    await client.call("POST", f"/sessions/{session_id}/stop")


@pytest.mark.parametrize("extra", [{"deliver": True}, {"channel": "x"}])
async def test_a_field_that_is_not_known_is_refused(
    client: Client, server: ServerProcess, extra: dict[str, object]
) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/automations"
    error = (await client.call("POST", path, {**DAILY, **extra}, expect=422))["error"]
    assert "there is no field" in error["message"]
