from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.contract.conftest import finished
from tests.server import Client

LONG = "[[sleep: 600]]"


async def test_an_input_to_an_idle_session_is_delivered(client: Client) -> None:
    session_id = await client.session()
    answer = await client.say(session_id, "hello")
    assert set(answer) == {
        "input_id",
        "status",
        "paused",
        "position",
        "remind_soft_threshold",
        "remind_hard_threshold",
    }
    assert (answer["status"], answer["position"]) == ("delivered", 0)


async def test_inputs_to_a_busy_session_are_queued_and_can_be_edited_and_removed(
    client: Client,
) -> None:
    session_id = await client.session()
    await client.say(session_id, LONG)
    first = await client.say(session_id, "first")
    second = await client.say(session_id, "second", delivery_mode="important")
    third = await client.say(session_id, "third")

    assert [each["status"] for each in (first, second, third)] == ["queued"] * 3
    assert [each["position"] for each in (first, second, third)] == [0, 0, 2]
    path = f"/sessions/{session_id}/queue"
    listed = await client.call("GET", path)
    assert [each["text"] for each in listed] == ["second", "first", "third"]

    await client.call("PATCH", f"{path}/{first['input_id']}", {"text": "better"})
    await client.call("DELETE", f"{path}/{third['input_id']}")
    await client.call("POST", f"/sessions/{session_id}/stop")
    await finished(client, session_id, turns=3)
    texts = [m["content"] for m in await client.messages(session_id) if m["role"] == "user"]
    assert texts == [LONG, "second", "better"]


async def test_a_delivered_input_can_no_longer_be_edited(client: Client) -> None:
    session_id = await client.session()
    answer = await client.say(session_id, LONG)
    path = f"/sessions/{session_id}/queue/{answer['input_id']}"
    await client.call("PATCH", path, {"text": "too late"}, expect=404)
    await client.call("DELETE", path, expect=404)


async def test_an_input_sent_twice_with_its_id_runs_once(client: Client) -> None:
    session_id = await client.session()
    sent = [client.say(session_id, "hello", input_id="my-own-id-1") for _ in range(5)]
    answers = await asyncio.gather(*sent)

    assert {answer["input_id"] for answer in answers} == {"my-own-id-1"}
    await finished(client, session_id)
    again = await client.say(session_id, "hello", input_id="my-own-id-1")
    assert again["status"] == "delivered"
    assert len(await client.messages(session_id)) == 2
    await client.call(
        "POST",
        f"/sessions/{session_id}/input",
        {"text": "another", "input_id": "my-own-id-1"},
        expect=409,
    )


async def test_an_urgent_input_interrupts(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, LONG)
    await client.say(session_id, "now", delivery_mode="urgent")
    frames = await finished(client, session_id, turns=2)
    assert [f["outcome"] for f in frames if f["type"] == "stream_end"] == ["stopped", "ok"]


async def test_an_input_from_another_session_says_so(client: Client) -> None:
    sender, target = await client.session(), await client.session()
    await client.say(target, "hello", sender_session_id=sender)
    frames = await finished(client, target)
    (start,) = [frame for frame in frames if frame["type"] == "stream_start"]
    assert start["origin"] == "agent"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"text": ""}, 422, "blank"),
        ({"text": " \n"}, 422, "blank"),
        ({}, 422, "text"),
        ({"text": None}, 422, "text"),
        ({"text": 7}, 422, "text"),
        ({"text": "a\x00b"}, 422, "NUL"),
        ({"text": "x", "delivery_mode": "rude"}, 422, "delivery_mode"),
        ({"text": "x", "remind_soft_threshold": 0}, 422, "remind_soft_threshold"),
        ({"text": "x", "input_id": "short"}, 422, "input_id"),
        ({"text": "x", "sender_session_id": "nobody"}, 404, "nobody"),
        ({"text": "x" * 1_000_001}, 413, "1,000,000"),
        ({"text": "x" * 9_000_000}, 413, "8,000,000"),
    ],
)
async def test_an_input_that_makes_no_sense_is_refused_and_changes_nothing(
    client: Client, body: object, status: int, words: str
) -> None:
    session_id = await client.session()
    error = (await client.call("POST", f"/sessions/{session_id}/input", body, expect=status))[
        "error"
    ]
    assert words in error["message"]
    assert error["hint"]
    assert await client.messages(session_id) == []


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000, b"null", b'"text"'])
async def test_a_body_that_is_not_an_object_is_refused(client: Client, content: bytes) -> None:
    session_id = await client.session()
    response = await client.http.post(f"/sessions/{session_id}/input", content=content)
    assert response.status_code == 422
    assert response.json()["error"]["hint"]


async def test_a_message_of_almost_a_megabyte_is_taken(client: Client) -> None:
    session_id = await client.session()
    text = "ä" * 499_000
    await client.say(session_id, text)
    await finished(client, session_id)
    assert (await client.messages(session_id))[0]["content"] == text
