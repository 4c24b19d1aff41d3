"""Which sessions need a person, and what will happen next, as other programs see it."""

from __future__ import annotations

import json

from tests.acceptance.contract.conftest import agent_token, finished, receive_until
from tests.server import Client, ServerProcess

AGENDA_FIELDS = {"at", "kind", "id", "session_id", "session_title", "title", "waits_for"}


async def test_a_finished_session_is_read_once_a_person_says_so(client: Client) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}"
    await client.say(session_id, "[[say: done]]")
    await finished(client, session_id)
    ended = await client.call("GET", path)
    assert (ended["attention"], ended["last_outcome"], ended["unread"]) == ("finished", "ok", True)

    async with client.watch(session_id) as socket:
        read = await client.call("PATCH", path, {"unread": False})
        announced = (await receive_until(socket, "session_update"))[-1]["session"]

    assert read == announced == {**ended, "attention": None, "unread": False}


async def test_a_failed_session_says_so(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "[[fail: no connection]]")
    last = (await finished(client, session_id))[-1]["session"]
    assert (last["attention"], last["last_outcome"]) == ("failed", "error")


async def test_a_session_that_a_person_stops_does_not_need_them(client: Client) -> None:
    session_id = await client.session()
    await client.say(session_id, "[[sleep: 600]]")
    await client.call("POST", f"/sessions/{session_id}/stop")
    stopped = await client.call("GET", f"/sessions/{session_id}")
    assert (stopped["attention"], stopped["last_outcome"]) == (None, "stopped")


async def test_an_archived_session_is_listed_on_request_or_while_it_needs_a_person(
    client: Client,
) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}"

    async def is_listed(query: str = "") -> bool:
        return session_id in [each["id"] for each in await client.call("GET", f"/sessions{query}")]

    await client.call("PATCH", path, {"archived": True})
    assert not await is_listed()
    assert await is_listed("?archived=true")
    sender = await client.session()
    await client.say(session_id, "[[say: news]]", sender_session_id=sender)
    await finished(client, session_id)
    assert await is_listed()
    await client.call("PATCH", path, {"unread": False})
    assert not await is_listed()
    await client.say(session_id, "[[say: welcome back]]")
    assert await is_listed()


async def test_marks_are_true_or_false_and_unread_is_not_for_agents(
    client: Client, server: ServerProcess
) -> None:
    session_id = await client.session()
    path = f"/sessions/{session_id}"
    for wrong in ("yes", 1, None):
        refusal = await client.call("PATCH", path, {"pinned": wrong}, expect=422)
        assert "pinned" in refusal["error"]["message"]
    assert (await client.call("PATCH", path, {"pinned": True}))["pinned"] is True
    async with Client(server.address, await agent_token(client, session_id), 30) as agent:
        refusal = await agent.call("PATCH", path, {"unread": False}, expect=403)
        assert "an agent can't mark sessions as read" in refusal["error"]["message"]
    assert (await client.call("GET", path))["unread"] is True


async def test_the_agenda_shows_what_happens_next_in_all_sessions(client: Client) -> None:
    session_id = await client.session(name="planner")
    recall = {"call_type": "once", "additional_context_message": "Water the plants", "when": "2h"}
    await client.call("POST", f"/sessions/{session_id}/recall", recall, expect=201)
    remind = {"session_id": session_id, "delay_seconds": 3600, "message": "Look outside"}
    await client.call("POST", "/scheduler/remind", remind)

    async def titles(query: str = "") -> list[str]:
        entries = await client.call("GET", f"/agenda{query}")
        assert all(set(each) == AGENDA_FIELDS for each in entries)
        return [each["title"] for each in entries if each["session_title"] == "planner"]

    assert await titles() == ["Look outside", "Water the plants"]
    assert await titles("?until=90m") == ["Look outside"]
    assert await titles("?until=90m&tz=Asia/Tokyo") == ["Look outside"]
    assert await titles("?until=1m") == []


async def test_an_agenda_until_no_time_is_refused(client: Client) -> None:
    refusal = await client.call("GET", "/agenda?until=soon", expect=422)
    assert "soon" in json.dumps(refusal)
