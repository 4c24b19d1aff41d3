"""Sessions wake themselves up: real servers, real seconds, and kills at the worst moments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.ledger import SERVER_STOPPED, Sent
from tests.acceptance.flows.pair import start_pair
from tests.acceptance.flows.steps import saw, schedule, turns_ended, until
from tests.acceptance.flows.storm import at_rest
from tests.postgres import PostgresServer
from tests.waiting import eventually


async def test_a_recall_fires_at_its_time_and_never_again_not_even_after_a_restart(
    serve: Serve,
) -> None:
    server = serve()
    async with server.client() as client:
        session_id = await client.session()
        made = await schedule(client, session_id, "once", "[[say: built]]", when="1s")
        frames = await until(client, session_id, turns_ended(1))
    server.stop()
    server.start()
    async with server.client() as client:
        other = await client.session()
        await schedule(client, other, "immediate", "[[say: the clock has looked]]")
        await until(client, other, turns_ended(1))
        recalls = await client.call("GET", f"/sessions/{session_id}/recalls")
    store = await at_rest(server.database_url)

    (delivered,) = [frame for frame in frames if frame["type"] == "input_delivered"]
    assert delivered["at"] >= delivered["input"]["not_before"] == made["due_at"]
    assert [(each["id"], each["status"], each["outcome"]) for each in recalls] == [
        (made["id"], "fired", "ok")
    ]
    assert store.answers_in(session_id) == ["built"]
    assert ledger.violations(store) == []


async def test_an_immediate_recall_runs_at_once_although_the_clock_sleeps_for_an_hour(
    serve: Serve,
) -> None:
    server = serve()
    async with server.client() as client:
        later, now = await client.session(), await client.session()
        await schedule(client, later, "once", "[[say: later]]", when="1h")
        await schedule(client, now, "immediate", "[[say: now]]")
        frames = await until(client, now, turns_ended(1))
    store = await at_rest(server.database_url)

    (start,) = [frame for frame in frames if frame["type"] == "stream_start"]
    assert (start["origin"], start["is_recall"]) == ("recall", True)
    assert (store.answers_in(now), store.answers_in(later)) == (["now"], [])
    assert ledger.violations(store) == []


@pytest.mark.proof
async def test_a_recurring_recall_beats_on_its_grid_until_it_is_cancelled(serve: Serve) -> None:
    server = serve()
    async with server.client() as client:
        session_id = await client.session()
        await schedule(
            client, session_id, "recurring", "[[say: looked]]", when="1s", interval_seconds=1
        )
        await until(client, session_id, turns_ended(3))
        await client.call("DELETE", f"/sessions/{session_id}/recall")
    store = await at_rest(server.database_url)

    (recall,) = store.recalls
    beats = [beat.due_at for beat in store.beats_of(recall)]
    assert len(beats) >= 3
    assert all((beat - beats[0]) % timedelta(seconds=1) == timedelta(0) for beat in beats)
    assert recall.status == "cancelled"
    assert ledger.violations(store) == []


async def test_a_recall_that_comes_due_while_the_server_is_dead_fires_once_after_the_restart(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url)
    async with server.client() as client:
        session_id = await client.session()
        made = await schedule(client, session_id, "once", "[[say: late]]", when="1s")
    server.kill()
    await until_due(made)
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(1))
    store = await at_rest(server.database_url)

    (recall,) = store.recalls
    assert (recall.id, recall.status, recall.outcome) == (made["id"], "fired", "ok")
    assert store.answers_in(session_id) == ["late"]
    assert ledger.violations(store) == []


@pytest.mark.proof
async def test_a_recall_killed_while_it_speaks_ends_visibly_and_is_not_repeated(
    serve: Serve, database_url: str | None
) -> None:
    server = serve(database_url)
    async with server.client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[say: half]] [[sleep: 600]]")
        await until(client, session_id, saw("stream_delta"))
    server.kill()
    server.start()
    async with server.client() as client:
        frames = await until(client, session_id, turns_ended(1))
        # Usable again: anything else left by the dead turn would come first.
        await client.say(session_id, "[[say: still here]]", input_id="question")
        await until(client, session_id, turns_ended(2))
    store = await at_rest(server.database_url)

    (recall,) = store.recalls
    assert (recall.status, recall.error) == ("cancelled", SERVER_STOPPED)
    (end,) = [frame for frame in frames if frame["type"] == "stream_end"]
    assert (end["outcome"], end["error"]) == ("error", SERVER_STOPPED)
    half, still_here = store.answers_in(session_id)
    assert half.startswith("half")
    assert still_here == "still here"
    sent = [Sent("question", session_id, "[[say: still here]]", "still here")]
    assert ledger.violations(store, sent) == []


@pytest.mark.proof
async def test_a_recall_killed_before_it_speaks_is_run_again_and_counts_once(serve: Serve) -> None:
    server = serve()
    async with server.client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[sleep: 5]] [[say: done]]")
        await until(client, session_id, saw("stream_start"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(2))
    store = await at_rest(server.database_url)

    assert [turn.outcome for turn in store.turns] == ["error", "ok"]
    assert store.answers_in(session_id) == ["done"]
    assert [recall.status for recall in store.recalls] == ["fired"]
    assert ledger.violations(store) == []


@pytest.mark.proof
async def test_a_message_during_a_recall_turn_is_answered_after_it(serve: Serve) -> None:
    server = serve()
    async with server.client() as client:
        session_id = await client.session()
        task = "[[say: at work]] [[sleep: 3]] [[say: and done]]"
        await schedule(client, session_id, "immediate", task)
        await until(client, session_id, saw("stream_delta"))
        taken = await client.say(session_id, "[[say: hello]]", input_id="message-1")
        frames = await until(client, session_id, turns_ended(2))
    store = await at_rest(server.database_url)

    assert (taken["status"], taken["position"]) == ("queued", 0)
    starts = [(f["origin"], f["is_recall"]) for f in frames if f["type"] == "stream_start"]
    assert starts == [("recall", True), ("user", False)]
    assert store.answers_in(session_id) == ["at work and done", "hello"]
    sent = [Sent("message-1", session_id, "[[say: hello]]", "hello")]
    assert ledger.violations(store, sent) == []


@pytest.mark.proof
async def test_a_stop_ends_the_turn_of_a_recall_and_the_next_one_runs(serve: Serve) -> None:
    server = serve()
    async with server.client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[say: at work]] [[sleep: 600]]")
        await until(client, session_id, saw("stream_delta"))
        assert await client.call("POST", f"/sessions/{session_id}/stop") == {"stopped": True}
        await until(client, session_id, turns_ended(1))
        await schedule(client, session_id, "immediate", "[[say: at work again]]")
        frames = await until(client, session_id, turns_ended(2))
    store = await at_rest(server.database_url)

    ends = [frame["outcome"] for frame in frames if frame["type"] == "stream_end"]
    assert ends == ["stopped", "ok"]
    assert [recall.status for recall in store.recalls] == ["fired", "fired"]
    assert store.answers_in(session_id)[1:] == ["at work again"]
    assert ledger.violations(store) == []


@pytest.mark.proof
async def test_recalls_scheduled_through_one_of_two_servers_fire_once_on_whichever_is_free(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    first, second = pair.servers
    async with first.client() as client, second.client() as other:
        orphan, *session_ids = [await client.session() for _ in range(9)]
        for session_id in session_ids:
            await schedule(client, session_id, "once", "[[say: awake]]", when="1s")
        for session_id in session_ids:
            await until(other, session_id, turns_ended(1))
        await schedule(client, orphan, "once", "[[say: adopted]]", when="1s")
        first.kill()
        await until(other, orphan, turns_ended(1))
    store = await at_rest(pair.url)

    assert [store.answers_in(each) for each in session_ids] == [["awake"]] * 8
    assert store.answers_in(orphan) == ["adopted"]
    assert len(store.beats) == len(store.recalls) == 9
    assert ledger.violations(store) == []


async def until_due(recall: dict[str, Any]) -> None:
    async def is_due() -> bool:
        return datetime.now(UTC) > datetime.fromisoformat(recall["due_at"])

    await eventually(is_due, what="the recall is due")
