"""Questions and their answers, as other programs see them."""

from __future__ import annotations

from tests.acceptance.contract.conftest import agent_token, finished, receive_until
from tests.acceptance.contract.questioning import ASK, NEED, asking
from tests.server import Client, ServerProcess

FIELDS = {
    *("id", "session_id", "turn_id", "call_id", "kind", "title", "detail"),
    *(
        "tool_name",
        "tool_input",
        "risk",
        "risk_reason",
        "options",
        "allow_free_text",
        "allow_several",
    ),
    *("takes_updated_input", "suggestions", "outlives_turn", "state", "answer", "answered_by"),
    *("answered_via", "deadline_at", "default", "created_at", "answered_at"),
}


async def test_a_permission_is_asked_listed_and_answered(client: Client) -> None:
    session_id, question = await asking(client, NEED)
    path = f"/questions/{question['id']}"

    assert set(question) == FIELDS
    assert (question["kind"], question["state"], question["risk"]) == ("permission", "open", "high")
    assert question["tool_input"] == {"command": "rm -r build"}
    assert question["default"]["decision"] == "deny"
    assert await client.call("GET", path) == question
    assert question in await client.call("GET", "/questions?state=open")
    assert await client.call("GET", f"/questions?session_id={session_id}") == [question]
    session = await client.call("GET", f"/sessions/{session_id}")
    assert (session["state"], session["waiting_for"]) == ("waiting", question["id"])

    denial = {"decision": "deny", "text": "Keep it."}
    async with client.watch(session_id) as socket:
        closed = await client.call("POST", f"{path}/answer", denial)
        update = (await receive_until(socket, "question_update"))[-1]
        ending = (await receive_until(socket, "session_sync"))[-1]["session"]

    assert update["question"] == closed == await client.call("GET", path)
    assert closed["answer"] == {**denial, "choices": [], "updated_input": None}
    by = [closed[field] for field in ("state", "answered_by", "answered_via")]
    assert by == ["answered", "local", "api"]
    assert (ending["state"], ending["waiting_for"]) == ("idle", None)
    assert await client.call("GET", f"/questions?state=open&session_id={session_id}") == []


async def test_a_later_answer_learns_who_was_first_and_from_where(client: Client) -> None:
    _, question = await asking(client, NEED)
    path = f"/questions/{question['id']}/answer"
    await client.call("POST", path, {"decision": "allow", "via": "page"})

    refusal = await client.call("POST", path, {"decision": "deny"}, expect=409)

    assert refusal["error"]["kind"] == "question_closed"
    assert "already answered by local, from page" in refusal["error"]["message"]
    assert f"/questions/{question['id']}" in refusal["error"]["hint"]


async def test_a_chosen_option_starts_the_next_turn(client: Client) -> None:
    session_id, question = await asking(client, ASK)
    assert question["turn_id"] is None
    assert [each["label"] for each in question["options"]] == ["SQLite", "PostgreSQL"]

    body = {"decision": "choose", "choices": ["SQLite"]}
    await client.call("POST", f"/questions/{question['id']}/answer", body)

    frames = await finished(client, session_id, 2)
    assert [each["origin"] for each in frames if each["type"] == "stream_start"][1] == "answer"
    assert (await client.messages(session_id))[-1]["content"] == "good choice"


async def test_wrong_answers_and_unknown_questions_are_refused(client: Client) -> None:
    _, question = await asking(client, ASK)
    path = f"/questions/{question['id']}/answer"
    for body, problem in (
        ({"decision": "choose", "choices": ["MySQL"]}, "there is no option 'MySQL'"),
        ({"decision": "allow"}, "can't be answered with allow"),
        ({"decision": "shrug"}, "decision"),
        ({"decision": "deny", "via": "smoke signals"}, "via"),
        ({}, "decision"),
    ):
        refusal = await client.call("POST", path, body, expect=422)
        assert problem in refusal["error"]["message"]
    assert (await client.call("GET", f"/questions/{question['id']}"))["state"] == "open"

    refusal = await client.call("GET", "/questions/none", expect=404)
    assert refusal["error"]["kind"] == "question_not_found"
    await client.call("POST", "/questions/none/answer", {"decision": "deny"}, expect=404)
    await client.call("GET", "/questions?state=lost", expect=422)
    await client.call("GET", "/questions?session_id=none", expect=404)


async def test_an_agent_may_read_its_own_question_but_not_answer_any(
    client: Client, server: ServerProcess
) -> None:
    session_id = await client.session()
    token = await agent_token(client, session_id)
    _, question = await asking(client, ASK)
    path = f"/questions/{question['id']}"
    async with Client(server.address, token, 30) as agent:
        assert (await agent.call("GET", path))["state"] == "open"
        refusal = await agent.call("POST", f"{path}/answer", {"decision": "deny"}, expect=403)
        assert "an agent can't do this" in refusal["error"]["message"]

    # An agent in a person's own terminal has that person's token, and says who it is.
    headers = {"Navi-Session": session_id}
    response = await client.http.post(f"{path}/answer", json={"decision": "deny"}, headers=headers)
    assert response.status_code == 403
    assert (await client.call("GET", path))["state"] == "open"
