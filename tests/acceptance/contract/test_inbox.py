"""The inbox, as other programs see it."""

from __future__ import annotations

from typing import Any

from tests.acceptance.contract.conftest import agent_token, finished, receive_until
from tests.acceptance.contract.questioning import ASK, asking
from tests.server import Client, ServerProcess

FIELDS = {
    *("id", "kind", "session_id", "session_title", "title", "reason", "since", "then"),
    *("question", "snoozed_until"),
}


async def waiting(client: Client, session_id: str, query: str = "") -> list[dict[str, Any]]:
    """What waits in that session."""
    items = await client.call("GET", f"/inbox{query}")
    assert all(set(each) == FIELDS for each in items)
    return [each for each in items if each["session_id"] == session_id]


async def failed(client: Client) -> str:
    session_id = await client.session()
    await client.say(session_id, "[[fail: no connection]]")
    await finished(client, session_id)
    return session_id


async def test_a_question_waits_with_its_deadline_in_the_readers_time_zone(client: Client) -> None:
    session_id, question = await asking(client, ASK, name="shop")

    (item,) = await waiting(client, session_id, "?tz=Asia/Tokyo")

    assert (item["id"], item["kind"]) == (f"question-{question['id']}", "question")
    assert (item["title"], item["session_title"]) == ("Which database?", "shop")
    assert item["question"] == question
    assert item["since"] == question["created_at"]
    assert item["then"].startswith("continues without an answer tomorrow at ")
    (elsewhere,) = await waiting(client, session_id, "?tz=UTC")
    assert elsewhere["then"] != item["then"]
    refusal = await client.call("POST", f"/inbox/{item['id']}/settle", expect=409)
    assert refusal["error"]["kind"] == "must_be_answered"
    assert refusal["error"]["hint"] == f"POST /questions/{question['id']}/answer answers it"


async def test_a_failure_that_is_settled_counts_as_read(client: Client) -> None:
    session_id = await failed(client)
    (item,) = await waiting(client, session_id)
    assert (item["id"], item["question"]) == (f"failure-{session_id}", None)
    assert (item["reason"], item["then"]) == ("failed: no connection", "stays as it is")

    async with client.watch(session_id) as socket:
        assert await client.call("POST", f"/inbox/{item['id']}/settle") == item
        session = (await receive_until(socket, "session_update"))[-1]["session"]

    assert (session["unread"], session["attention"]) == (False, None)
    assert await waiting(client, session_id) == []
    refusal = await client.call("POST", f"/inbox/{item['id']}/settle", expect=404)
    assert refusal["error"]["kind"] == "inbox_item_not_found"


async def test_a_snoozed_item_is_listed_on_request(client: Client) -> None:
    session_id = await failed(client)
    (item,) = await waiting(client, session_id)
    path = f"/inbox/{item['id']}/snooze"

    body = {"until": "2099-01-01T09:00", "tz": "Asia/Tokyo"}
    await client.call("POST", path, body, expect=422)  # more than ten years ahead
    await client.call("POST", path, {"until": "soon"}, expect=422)
    await client.call("POST", path, {"until": "2020-01-01T09:00"}, expect=422)
    await client.call("POST", path, {}, expect=422)
    snoozed = await client.call("POST", path, {"until": "2h"})

    assert snoozed == {**item, "snoozed_until": snoozed["snoozed_until"]}
    assert await waiting(client, session_id) == []
    assert await waiting(client, session_id, "?snoozed=true") == [snoozed]


async def test_agents_may_read_the_inbox_but_put_nothing_away(
    client: Client, server: ServerProcess
) -> None:
    session_id = await client.session()
    token = await agent_token(client, session_id)
    (item,) = await waiting(client, session_id)
    assert item["id"] == f"finished-{session_id}"
    async with Client(server.address, token, 30) as agent:
        assert await waiting(agent, session_id) == [item]
        await agent.call("POST", f"/inbox/{item['id']}/settle", expect=403)
        await agent.call("POST", f"/inbox/{item['id']}/snooze", {"until": "1h"}, expect=403)
    assert await waiting(client, session_id) == [item]
