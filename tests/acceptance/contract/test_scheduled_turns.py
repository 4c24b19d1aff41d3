"""A scheduled turn cannot create schedules, whichever way its agent calls Navi."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.acceptance.contract.conftest import receive_until
from tests.acceptance.contract.person import Person
from tests.server import Client

LONG = "[[sleep: 600]]"
ADD = {"action": "add", "name": "again", "message": "Look.", "every_seconds": 60}


@pytest.fixture(params=["recall", "automation"])
async def working(request: pytest.FixtureRequest, client: Client) -> Any:
    """A session whose scheduled turn runs until the test has ended."""
    session_id = await client.session()
    if request.param == "recall":
        body = {"call_type": "immediate", "additional_context_message": LONG}
        await client.call("POST", f"/sessions/{session_id}/recall", body, expect=201)
    else:
        body = {"name": "long", "message": LONG, "at": "now"}
        await client.call("POST", f"/sessions/{session_id}/automations", body, expect=201)
    async with client.watch(session_id, after=0) as socket:
        await receive_until(socket, "stream_start")
    yield session_id
    await client.call("POST", f"/sessions/{session_id}/stop")


async def test_mcp_refuses_automations_in_a_scheduled_turn(client: Client, working: str) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call |= {"params": {"name": "cron", "arguments": ADD}}
    answered = await client.http.post("/mcp", json=call, headers={"Navi-Session": working})
    result = answered.json()["result"]
    assert result["isError"]
    assert "can't create or reschedule automations" in json.dumps(result)


async def test_sm_refuses_automations_in_a_scheduled_turn_for_any_session(
    person: Person, working: str
) -> None:
    other, _ = person.session()
    agent = person.agent_of(working)
    for target in (working, other):
        add = ("automation", "add", target, "again", "--every", "1h")
        assert "schedule_recall or `sm recall`" in agent.refused(*add)
    assert person.navi.automations(other) == []


async def test_sm_refuses_to_schedule_an_old_one_again(person: Person, working: str) -> None:
    other, _ = person.session()
    person.run("automation", "add", other, "look", "--every", "1h", "--name", "look")
    [made] = person.navi.automations(other)
    agent = person.agent_of(working)
    assert "reschedule" in agent.refused("automation", "edit", made["id"], "--every", "2h")
    assert "changed" in agent.run("automation", "edit", made["id"], "--name", "renamed")


async def test_the_next_recall_may_be_scheduled(person: Person, working: str) -> None:
    person.agent_of(working).run("recall", working, "1h", "Read build.log with filesystem.")
    recall = person.navi.recall(working)
    assert recall["scheduled_by"] == "agent"


async def test_a_recall_by_another_sessions_agent_is_not_taken_for_a_persons(
    person: Person, working: str
) -> None:
    other, _ = person.session()
    person.agent_of(working).run("recall", other, "1h", "Read build.log with filesystem.")
    assert person.navi.recall(other)["scheduled_by"] == "other_agent"


async def test_a_person_may_add_an_automation_during_that_turn(
    person: Person, working: str
) -> None:
    before = len(person.navi.automations(working))
    person.run("automation", "add", working, "look", "--every", "1h")
    assert len(person.navi.automations(working)) == before + 1
