"""Deadlines of questions on the wire and in `sm`."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from tests.acceptance.contract.conftest import agent_token
from tests.acceptance.contract.person import Person
from tests.acceptance.contract.questioning import NEED, asking
from tests.server import Client, ServerProcess

FIELD = "question_deadline_minutes"


async def test_a_sessions_deadline_is_set_changed_and_removed(client: Client) -> None:
    session_id = await client.session(question_deadline_minutes=30)
    path = f"/sessions/{session_id}"
    assert (await client.call("GET", path))[FIELD] == 30
    for minutes in (0, 480, None):
        assert (await client.call("PATCH", path, {FIELD: minutes}))[FIELD] == minutes

    for wrong in (-1, 10**9, "30m", 1.5, True):
        refusal = await client.call("PATCH", path, {FIELD: wrong}, expect=422)
        assert FIELD in refusal["error"]["message"]
        assert refusal["error"]["hint"]
    assert (await client.call("GET", path))[FIELD] is None


async def test_a_question_names_the_deadline_that_its_session_has(client: Client) -> None:
    _, question = await asking(client, NEED, question_deadline_minutes=30)
    created, deadline = (
        datetime.fromisoformat(question[field]) for field in ("created_at", "deadline_at")
    )
    assert deadline - created == timedelta(minutes=30)
    assert "within 30 min" in question["default"]["text"]


async def test_an_automations_deadline_is_set_changed_and_removed(client: Client) -> None:
    session_id = await client.session()
    body = {"name": "daily", "message": "hello", "every_seconds": 86_400, FIELD: 30}
    made = await client.call("POST", f"/sessions/{session_id}/automations", body, expect=201)
    assert made[FIELD] == 30
    path = f"/automations/{made['id']}"
    for minutes in (0, 480, None):
        assert (await client.call("PATCH", path, {FIELD: minutes}))[FIELD] == minutes
    await client.call("PATCH", path, {FIELD: -1}, expect=422)


async def test_agents_can_not_set_deadlines_but_what_they_start_inherits_theirs(
    client: Client, server: ServerProcess
) -> None:
    session_id = await client.session(question_deadline_minutes=30)
    token = await agent_token(client, session_id)
    automation = {"name": "daily", "message": "hello", "every_seconds": 86_400, FIELD: 0}
    async with Client(server.address, token, 30) as agent:
        await agent.call("PATCH", f"/sessions/{session_id}", {FIELD: 0}, expect=403)
        await agent.call("POST", "/sessions", {FIELD: 0}, expect=403)
        await agent.call("POST", f"/sessions/{session_id}/automations", automation, expect=403)
        child = await agent.call("POST", "/sessions", {"driver": "scripted"}, expect=201)
    assert child[FIELD] == 30


def test_sm_sets_the_deadlines_of_sessions_and_automations(person: Person) -> None:
    spawn = ("spawn", "--driver", "scripted", "--json", "--question-deadline")
    session = json.loads(person.run(*spawn, "1h 30m"))
    assert session[FIELD] == 90
    assert "can't read '30' as a duration" in person.refused(*spawn, "30")

    add = ("automation", "add", session["id"], "hello", "--every", "1d", "--json")
    made = json.loads(person.run(*add, "--question-deadline", "30m"))
    assert made[FIELD] == 30
    edit = ("automation", "edit", made["id"], "--question-deadline")
    assert json.loads(person.run(*edit, "0", "--json"))[FIELD] == 0
