"""Budgets on the wire and in `sm`."""

from __future__ import annotations

import json

import pytest

from tests.acceptance.contract.conftest import agent_token, finished
from tests.acceptance.contract.person import Person
from tests.server import Client, ServerProcess

FIELDS = {
    *("scope", "owner_id", "per", "tokens", "dollars", "used_tokens", "used_dollars", "used_words"),
    *("unpriced_turns", "unpriced_model", "reason", "paused_until", "question_id"),
}


async def test_a_session_made_with_a_budget_pauses_and_goes_on_when_it_is_raised(
    client: Client,
) -> None:
    session_id = await client.session(budget={"tokens": 1})
    path = f"/sessions/{session_id}"
    await client.say(session_id, "one")
    await finished(client, session_id)
    waiting = await client.say(session_id, "two")

    budget = await client.call("GET", f"{path}/budget")
    assert set(budget) == FIELDS
    assert (budget["scope"], budget["per"], budget["tokens"]) == ("session", "session", 1)
    assert budget["used_tokens"] > 1
    assert (waiting["status"], waiting["paused"]["reason"]) == ("queued", budget["reason"])
    session = await client.call("GET", path)
    assert session["paused"] == waiting["paused"]
    assert session["paused"]["until"] is None
    assert (session["state"], session["waiting_for"]) == ("waiting", budget["question_id"])

    raised = await client.call("PATCH", path, {"budget": {"tokens": 1_000_000}})
    assert raised["id"] == session_id
    await finished(client, session_id, turns=2)
    session = await client.call("GET", path)
    assert (session["paused"], session["waiting_for"]) == (None, None)
    await client.call("PATCH", path, {"budget": None})
    assert (await client.http.get(f"{path}/budget")).status_code == 404


@pytest.mark.parametrize(
    "body",
    [{}, {"tokens": 0}, {"tokens": 5, "per": "week"}, {"dollars": 2}, {"tokens": "5"}],
    ids=["nothing", "zero", "another period", "no price", "no number"],
)
async def test_a_budget_that_can_not_be_counted_makes_no_session(
    client: Client, body: dict[str, object]
) -> None:
    request = {"driver": "scripted", "name": "unbounded", "budget": body}
    refused = await client.http.post("/sessions", json=request)
    assert refused.status_code == 422
    assert refused.json()["error"]["hint"]
    assert "unbounded" not in [each["name"] for each in await client.call("GET", "/sessions")]


async def test_an_automations_budget_is_set_and_removed_with_its_other_fields(
    client: Client,
) -> None:
    session_id = await client.session()
    fields = {"name": "hourly", "message": "look", "every_seconds": 3600}
    budget = {"tokens": 5_000, "per": "day"}
    path = f"/sessions/{session_id}/automations"
    made = await client.call("POST", path, {**fields, "budget": budget}, expect=201)
    stored = await client.call("GET", f"/automations/{made['id']}/budget")
    assert (stored["scope"], stored["per"], stored["tokens"]) == ("automation", "day", 5_000)

    await client.call("PATCH", f"/automations/{made['id']}", {"budget": None})
    gone = await client.http.get(f"/automations/{made['id']}/budget")
    assert gone.status_code == 404


async def test_agents_can_neither_set_nor_raise_budgets(
    client: Client, server: ServerProcess
) -> None:
    session_id = await client.session()
    token = await agent_token(client, session_id)
    async with Client(server.address, token, 30.0) as agent:
        for path in (f"/sessions/{session_id}/budget", "/budget"):
            await agent.call("POST", path, {"tokens": 5}, expect=403)
        await agent.call("POST", "/sessions", {"budget": {"tokens": 5}}, expect=403)


def test_sm_sets_shows_and_raises_a_budget(person: Person) -> None:
    spawned = person.sm(
        *("spawn", "hello", "--driver", "scripted", "--budget", "1 token", "--wait", "60"),
        *("--name", "frugal"),
    )
    assert spawned.returncode == 0, spawned.stderr
    sent = person.sm("send", "frugal", "again")
    assert "it waits: the session's budget of 1 token is used up" in sent.stderr
    assert "sm budget" in sent.stderr
    listed = person.sm("budget")
    assert "session frugal" in listed.stdout
    assert "of 1 token; paused" in listed.stdout
    assert "paused by its budget" in person.sm("status").stdout

    raised = person.sm("budget", "frugal", "500k", "tokens")
    assert "of 500,000 tokens" in raised.stdout
    assert person.sm("wait", "frugal", "60").returncode == 0
    assert "ok: again" in person.sm("output", "frugal").stdout
    assert json.loads(person.sm("budget", "frugal", "--remove", "--json").stdout)["removed"]
    assert person.sm("budget", "frugal").returncode == 1


def test_sm_answers_the_question_with_an_amount(person: Person) -> None:
    person.sm(
        *("spawn", "hello", "--driver", "scripted", "--budget", "1 token", "--wait", "60"),
        *("--name", "thrifty"),
    )
    person.sm("send", "thrifty", "again")
    answered = person.sm("answer", "thrifty", "300k tokens")
    assert answered.returncode == 0, answered.stderr
    person.sm("wait", "thrifty", "60")
    assert "ok: again" in person.sm("output", "thrifty").stdout


def test_an_amount_without_a_unit_is_refused_with_examples(person: Person) -> None:
    refused = person.sm("spawn", "hello", "--driver", "scripted", "--budget", "5")
    assert refused.returncode in (1, 2)
    assert "2usd" in refused.stderr
