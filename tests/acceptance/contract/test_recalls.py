from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.acceptance.contract.conftest import finished, receive, receive_until
from tests.server import Client

FIELDS = (
    "id session_id call_type trigger_at interval_seconds internal_comment "
    "additional_context_message status outcome error created_at updated_at"
)
TASK = {"call_type": "once", "when": "1h", "additional_context_message": "Read build.log"}


async def test_a_recall_has_the_fields_of_the_contract_and_is_said_back(client: Client) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/recall"
    await client.call("GET", path, expect=404)

    made = await client.call("POST", path, {**TASK, "internal_comment": "why"}, expect=201)

    assert set(FIELDS.split()) <= set(made)
    assert (made["status"], made["internal_comment"]) == ("pending", "why")
    assert "in 1 h" in made["reading"]
    assert made["warning"] is None
    pending = await client.call("GET", path)
    assert {key: made[key] for key in pending} == pending
    session = await client.call("GET", f"/sessions/{session_id}")
    assert session["pending_recall"] == pending
    waking = await client.call("GET", "/sessions?pending_recall=true")
    assert session_id in [each["id"] for each in waking]


async def test_a_second_recall_is_a_conflict(client: Client) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/recall"
    await client.call("POST", path, TASK, expect=201)
    error = (await client.call("POST", path, TASK, expect=409))["error"]
    assert error["kind"] == "recall_already_pending"


async def test_tomorrow_at_nine_is_nine_where_the_person_is(client: Client) -> None:
    session_id = await client.session()
    body = {**TASK, "when": "tomorrow at 09:00", "timezone_offset": "+02:00"}
    before = datetime.now(UTC)
    made = await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
    # Midnight may have passed meanwhile.
    tomorrows = {(now + timedelta(days=1, hours=2)).date() for now in (before, datetime.now(UTC))}
    assert made["trigger_at"] in {f"{tomorrow}T07:00:00.000Z" for tomorrow in tomorrows}


async def test_a_time_is_read_with_the_offset_that_its_zone_has_then(client: Client) -> None:
    """In summer and in winter, whatever the season is now."""
    year = datetime.now(UTC).year + 1
    for month, hour in ((1, 8), (7, 7)):
        body = {"when": f"{year}-{month:02}-15T09:00", "tz": "Europe/Berlin"}
        preview = await client.call("POST", "/recalls/preview", body)
        assert preview["trigger_at"] == f"{year}-{month:02}-15T{hour:02}:00:00.000Z"
        session_id = await client.session()
        body = {**TASK, **body}
        made = await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
        assert made["trigger_at"] == preview["trigger_at"]
        in_words = f", {year}-{month:02}-15 09:00 +0{9 - hour}:00 ({hour:02}:00 UTC)"
        assert made["reading"].endswith(in_words)
        assert preview["reading"].endswith(in_words)


async def test_a_conflict_names_the_pending_recall_in_the_callers_zone(
    client: Client,
) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/recall"
    at = f"{datetime.now(UTC).year + 1}-07-15T09:00"
    body = {**TASK, "when": at, "tz": "Europe/Berlin"}
    await client.call("POST", path, body, expect=201)
    error = (await client.call("POST", path, {**TASK, "tz": "Asia/Tokyo"}, expect=409))["error"]
    assert f"{at[:10]} 16:00 +09:00 (07:00 UTC)" in error["message"]


async def test_only_a_recurring_recall_can_be_skipped(client: Client) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}/recall"
    await client.call("POST", path, TASK, expect=201)
    await client.call("POST", f"{path}/skip", expect=422)
    assert (await client.call("DELETE", path))["status"] == "cancelled"
    await client.call("DELETE", path, expect=404)

    beat = {**TASK, "call_type": "recurring", "interval_seconds": 900}
    made = await client.call("POST", path, beat, expect=201)
    skipped = await client.call("POST", f"{path}/skip")
    distance = datetime.fromisoformat(skipped["trigger_at"]) - datetime.fromisoformat(
        made["trigger_at"]
    )
    assert distance == timedelta(minutes=15)
    listed = await client.call("GET", f"/sessions/{session_id}/recalls")
    assert [each["status"] for each in listed] == ["pending", "cancelled"]


async def test_a_recall_is_streamed_like_any_turn_and_every_change_is_announced(
    client: Client,
) -> None:
    session_id = await client.session()
    now = {"call_type": "immediate", "additional_context_message": "Read a.log"}
    async with client.watch(session_id) as socket:
        await client.call("POST", f"/sessions/{session_id}/recall", now, expect=201)
        first = await receive(socket)
        assert (first["type"], first["recall"]["status"]) == ("recall_update", "pending")
        frames = await receive_until(socket, "session_sync")
    (start,) = [frame for frame in frames if frame["type"] == "stream_start"]
    assert (start["origin"], start["is_recall"]) == ("recall", True)
    updates = [frame["recall"] for frame in frames if frame["type"] == "recall_update"]
    assert updates == [None, None]
    assert frames[-1]["session"]["pending_recall"] is None
    (question, _) = await client.messages(session_id)
    assert (question["is_recall"], question["content"]) == (True, "Read a.log")
    assert await finished(client, session_id)


@pytest.mark.parametrize(
    "change",
    [
        {"call_type": "sometimes"},
        {"when": None},
        {"when": "soonish"},
        {"call_type": "recurring"},
        {"call_type": "immediate"},
        {"interval_seconds": 60},
        {"additional_context_message": ""},
        {"timezone_offset": "CET"},
        {"tz": "Mars/Olympus"},
        {"tz": "Europe/Berlin", "timezone_offset": "+02:00"},
        {"colour": "red"},
    ],
)
async def test_an_invalid_recall_is_refused_with_a_hint(
    client: Client, change: dict[str, object]
) -> None:
    session_id = await client.session()
    body = {**TASK, **change}
    error = (await client.call("POST", f"/sessions/{session_id}/recall", body, expect=422))["error"]
    assert error["hint"]
    await client.call("GET", f"/sessions/{session_id}/recall", expect=404)


async def test_a_note_to_a_person_is_answered_with_a_warning(client: Client) -> None:
    session_id = await client.session()
    note = {**TASK, "additional_context_message": "Say e.g. hello"}
    made = await client.call("POST", f"/sessions/{session_id}/recall", note, expect=201)
    assert "Name the tool, file or URL" in made["warning"]


async def test_sessions_are_not_filtered_by_what_is_neither_true_nor_false(client: Client) -> None:
    error = (await client.call("GET", "/sessions?pending_recall=banana", expect=422))["error"]
    assert "pending_recall=true" in error["hint"]


async def test_a_preview_says_how_a_time_would_be_read_and_schedules_nothing(
    client: Client,
) -> None:
    body = {"when": "tomorrow at 9", "timezone_offset": "+02:00", "interval_seconds": 3600}
    preview = await client.call("POST", "/recalls/preview", body)
    assert preview["trigger_at"].endswith("T07:00:00.000Z")
    assert "09:00 +02:00" in preview["reading"]
    hours = [beat["trigger_at"][11:13] for beat in preview["beats"]]
    assert hours == ["08", "09", "10", "11", "12"]


@pytest.mark.parametrize(
    "body",
    [{}, {"when": "some day"}, {"when": "1h", "interval_seconds": 0}, {"when": "", "x": 1},
     {"when": "1h", "interval_seconds": 10**12}],
)  # fmt: skip
async def test_an_invalid_time_is_refused_with_valid_examples(client: Client, body: object) -> None:
    error = (await client.call("POST", "/recalls/preview", body, expect=422))["error"]
    assert error["hint"]
