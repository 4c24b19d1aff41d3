"""Scheduled turns of a session: real servers, real seconds, and kills at the worst moments."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import pytest

from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.failpoints import WITH_FAILPOINTS, set_failpoint, work_until_it_dies
from tests.acceptance.flows.ledger import SERVER_STOPPED, AddedAutomation, Sent
from tests.acceptance.flows.moved_clock import WITH_MOVED_CLOCK, move_clock
from tests.acceptance.flows.pair import start_pair
from tests.acceptance.flows.steps import add_automation, saw, turns_ended, until
from tests.acceptance.flows.storm import at_rest
from tests.integration.agents.stand_in import Answer, stand_in
from tests.postgres import PostgresServer
from tests.waiting import eventually


@pytest.mark.proof
async def test_what_a_person_answers_to_a_report_is_known_to_the_next_run(serve: Serve) -> None:
    report, reply = "the disk of db-1 is full", "db-1 goes away tomorrow, ignore it"
    answers = [Answer(text=text) for text in (report, "understood", "all quiet")]
    async with stand_in(*answers) as model:
        settings = {
            "NAVI_MODEL": "anthropic:m",
            "NAVI_AGENT_ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": "none",
        }
        server = serve(settings=settings, command=WITH_MOVED_CLOCK)
        async with server.client() as client:
            session_id = await client.session(driver="builtin")
            await add_automation(client, session_id, "daily monitor", every_seconds=86_400)
            move_clock(server, 86_400)
            await until(client, session_id, turns_ended(1))
            await client.say(session_id, reply, input_id="the-reply")
            await until(client, session_id, turns_ended(2))
            move_clock(server, 172_800)
            await until(client, session_id, turns_ended(3))
            messages = await client.messages(session_id)
        store = await at_rest(server.database_url)

    history = json.dumps(model.last["messages"])
    assert report in history
    assert reply in history
    assert "Scheduled automation triggered: daily monitor" in history
    assert "Nobody is waiting at the keyboard" in history
    # A person sees one conversation.
    trigger = "Scheduled automation triggered: daily monitor\n\nLook at the disks."
    assert [(message["source"], message["content"]) for message in messages] == [
        ("automation", trigger),
        ("automation", report),
        ("user", reply),
        ("user", "understood"),
        ("automation", trigger),
        ("automation", "all quiet"),
    ]
    sent = [Sent("the-reply", session_id, reply, "understood")]
    assert ledger.violations(store, sent, added=[AddedAutomation("daily monitor")]) == []


@pytest.mark.proof
async def test_an_automation_killed_while_it_runs_is_on_record_and_visible_and_not_doubled(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url)
    async with server.client() as client:
        session_id = await client.session()
        task = "[[say: half]] [[sleep: 600]]"
        made = await add_automation(client, session_id, "monitor", message=task, at="1s")
        await until(client, session_id, saw("stream_delta"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(1))
        (run,) = await client.call("GET", f"/automations/{made['id']}/runs")
        automation = await client.call("GET", f"/automations/{made['id']}")
    store = await at_rest(server.database_url)

    assert (run["state"], run["error"]) == ("failed", SERVER_STOPPED)
    assert (automation["last_status"], automation["ended"], automation["run_count"]) == (
        "error",
        "done",
        1,
    )
    half, ending = store.answers_in(session_id)
    assert half == "half"
    assert SERVER_STOPPED in ending
    assert ledger.violations(store, added=[AddedAutomation("monitor")]) == []


@pytest.mark.proof
async def test_an_automation_killed_between_due_and_turn_runs_once(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url, command=WITH_FAILPOINTS)
    async with server.client() as client:
        session_id = await client.session()
        await add_automation(client, session_id, "monitor", message="[[say: looked]]", at="2s")
    server.kill()
    set_failpoint(server, "after due_automations.claim:1")
    await work_until_it_dies(server, nothing)
    at_death = await asyncio.to_thread(ledger.read, server.database_url)
    set_failpoint(server, None)
    server.start()
    store = await at_rest(server.database_url)

    assert [run.state for run in at_death.runs] == ["queued"]
    assert [run.state for run in store.runs] == ["turn_completed"]
    assert store.answers_in(session_id) == ["looked"]
    assert ledger.violations(store, added=[AddedAutomation("monitor")]) == []


@pytest.mark.proof
async def test_an_automation_whose_time_comes_while_the_server_is_dead_runs_once_after_it(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url)
    async with server.client() as client:
        session_id = await client.session()
        made = await add_automation(client, session_id, "monitor", message="[[say: late]]", at="1s")
    server.kill()

    async def is_due() -> bool:
        return datetime.now(UTC) > datetime.fromisoformat(made["next_run_at"])

    await eventually(is_due, what="it is due")
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(1))
    server.stop()
    server.start()
    async with server.client() as client:
        other = await client.session()
        await add_automation(client, other, "the clock has looked", message="[[say: yes]]", at="1s")
        await until(client, other, turns_ended(1))
    store = await at_rest(server.database_url)

    assert store.answers_in(session_id) == ["late"]
    assert ledger.violations(store) == []


@pytest.mark.proof
async def test_automations_added_through_one_of_two_servers_run_once_on_whichever_is_free(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    first, second = pair.servers
    async with first.client() as client, second.client() as other:
        session_ids = [await client.session() for _ in range(6)]
        for session_id in session_ids:
            await add_automation(client, session_id, session_id, message="[[say: looked]]", at="4s")
        first.kill()
        for session_id in session_ids:
            await until(other, session_id, turns_ended(1))
    store = await at_rest(pair.url)

    assert [store.answers_in(each) for each in session_ids] == [["looked"]] * 6
    assert ledger.violations(store, added=[AddedAutomation(each) for each in session_ids]) == []


async def nothing() -> None:
    """The server has enough to do by itself."""
