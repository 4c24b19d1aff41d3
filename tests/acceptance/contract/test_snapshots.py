from __future__ import annotations

import pytest

from tests.acceptance.contract.conftest import finished, receive, receive_until
from tests.server import Client


async def test_a_snapshot_of_an_idle_session_has_all_that_was_said(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "one")
    events = await finished(client, session_id)

    snapshot = await client.call("GET", f"/sessions/{session_id}/snapshot")

    assert snapshot["session"] == await client.call("GET", f"/sessions/{session_id}")
    assert snapshot["messages"] == await client.messages(session_id)
    assert (snapshot["queue"], snapshot["after"]) == ([], events[-1]["seq"])


async def test_a_running_turn_is_described_by_the_events_after_the_snapshot(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "one")
    await finished(client, session_id)
    async with client.watch(session_id) as socket:
        running = await client.say(session_id, "[[say: begun]] [[sleep: 600]]")
        await receive_until(socket, "stream_delta")
    waiting = await client.say(session_id, "later")

    snapshot = await client.call("GET", f"/sessions/{session_id}/snapshot")

    assert [message["content"] for message in snapshot["messages"]] == ["one", "ok: one"]
    assert [each["id"] for each in snapshot["queue"]] == [waiting["input_id"]]
    async with client.watch(session_id, after=snapshot["after"]) as socket:
        first = await receive(socket)
        assert (first["type"], first["input"]["id"]) == ("input_delivered", running["input_id"])
    await client.call("POST", f"/sessions/{session_id}/kill")


async def test_a_snapshot_has_the_last_messages_and_the_others_can_be_asked_for(
    client: Client,
) -> None:
    session_id = await client.session()
    for number in range(4):
        await client.say(session_id, str(number))
    await finished(client, session_id, turns=4)
    everything = await client.messages(session_id)

    path = f"/sessions/{session_id}"
    last = (await client.call("GET", f"{path}/snapshot?limit=3"))["messages"]
    assert last == everything[-3:]
    older = f"{path}/messages?before_idx={last[0]['idx']}"
    assert await client.call("GET", older) == everything[:-3]
    assert await client.call("GET", f"{older}&limit=2") == everything[-5:-3]
    assert await client.call("GET", f"{older}&limit=2&after_idx=3") == everything[-4:-3]


@pytest.mark.parametrize("page", ["snapshot?limit=some", "snapshot?limit=-1", "messages?limit=-1"])
async def test_a_limit_that_is_none_is_refused(client: Client, page: str) -> None:
    session_id = await client.session()
    await client.call("GET", f"/sessions/{session_id}/{page}", expect=422)


async def test_somebody_elses_snapshot_is_not_shown(client: Client) -> None:
    await client.call("GET", "/sessions/nobody/snapshot", expect=404)


async def test_the_sender_of_a_message_stays_in_the_transcript(client: Client) -> None:
    sender, session_id = await client.session(), await client.session()
    await client.say(session_id, "hello", sender_session_id=sender)
    await finished(client, session_id)
    first = (await client.messages(session_id))[0]
    assert (first["source"], first["metadata"]["sender"]["id"]) == ("agent", sender)
