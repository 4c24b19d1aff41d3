"""Two servers on one PostgreSQL share the work, and one takes over when the other is gone."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.flows import ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.ledger import Ledger, Sent, TurnRow
from tests.acceptance.flows.mutants import IGNORES_THE_FENCE, mutant
from tests.acceptance.flows.pair import Pair, freeze, is_owner, start_pair
from tests.acceptance.flows.storm import at_rest
from tests.postgres import PostgresServer
from tests.server import NAVI, Client
from tests.waiting import eventually

SESSIONS = 50
INPUTS_PER_SESSION = 20


@pytest.mark.proof
async def test_a_browser_that_is_logged_in_at_one_server_is_logged_in_at_the_other(
    serve: Serve, postgres: PostgresServer
) -> None:
    token = "the same for both servers"
    pair = await start_pair(serve, postgres, settings={"NAVI_TOKEN": token})
    # Without a port, as behind a load balancer with one address for both.
    host = {"Host": "127.0.0.1"}
    first, second = (
        httpx2.AsyncClient(base_url=server.address, headers=host, trust_env=False)
        for server in pair.servers
    )
    async with first, second:
        made = await first.post("/login", json={"token": token})
        second.headers["Navi-Page"] = made.json()["page_secret"]
        second.cookies.update(first.cookies)
        assert (await second.get("/sessions")).status_code == 200
        assert (await second.post("/logout")).json() == {"ended": 1}
        page = {"Navi-Page": made.json()["page_secret"]}
        assert (await first.get("/sessions", headers=page)).status_code == 401


@pytest.mark.proof
async def test_a_thousand_inputs_sent_through_two_servers_have_one_turn_each(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    async with pair.servers[0].client() as first, pair.servers[1].client() as second:
        sent = [
            Sent(f"{session_id}-{number}", session_id, _text(number), f"answer {number}")
            for session_id in [await first.session() for _ in range(SESSIONS)]
            for number in range(INPUTS_PER_SESSION)
        ]
        async with asyncio.TaskGroup() as group:
            group.create_task(_until_both_are_at_work(pair))
            for start in range(0, len(sent), INPUTS_PER_SESSION):
                of_session = sent[start : start + INPUTS_PER_SESSION]
                group.create_task(_send_by_turns((first, second), of_session))
        final = await at_rest(pair.url)

    assert ledger.violations(final, sent) == []
    assert [turn.outcome for turn in final.turns] == ["ok"] * SESSIONS * INPUTS_PER_SESSION


async def test_a_stop_sent_to_the_other_server_ends_the_turn(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    async with pair.servers[0].client() as client:
        session_id = await client.session()
        sent = [Sent("endless-1", session_id, "[[sleep: 600]] [[say: too late]]")]
        await client.say(session_id, sent[0].text, input_id="endless-1")
    _, other = await pair.running_and_other(session_id)

    async with other.client() as client:
        answer = await client.call("POST", f"/sessions/{session_id}/stop")
        final = await at_rest(pair.url)

    assert answer == {"stopped": True}
    assert _outcomes(final, "endless-1") == ("stopped", "person")
    assert ledger.violations(final, sent) == []


@pytest.mark.proof
async def test_an_urgent_input_sent_to_the_other_server_interrupts_the_turn(
    serve: Serve, postgres: PostgresServer
) -> None:
    pair = await start_pair(serve, postgres)
    async with pair.servers[0].client() as client:
        session_id = await client.session()
        sent = [
            Sent("endless-1", session_id, "[[say: begun]] [[sleep: 600]] [[say: too late]]"),
            Sent("waiting-1", session_id, "[[say: answer 2]]", "answer 2"),
            Sent("urgent-1", session_id, "[[say: answer 3]]", "answer 3"),
        ]
        for each in sent[:2]:
            await client.say(session_id, each.text, input_id=each.input_id)
        await _until_it_speaks(pair, session_id)
    _, other = await pair.running_and_other(session_id)

    async with other.client() as client:
        await client.say(session_id, sent[2].text, input_id="urgent-1", delivery_mode="urgent")
        final = await at_rest(pair.url)

    assert _outcomes(final, "endless-1") == ("stopped", "urgent")
    assert _outcomes(final, "urgent-1") == ("ok", None)
    assert [message.id for message in final.messages if message.role == "user"] == [
        "endless-1",
        "urgent-1",
        "waiting-1",
    ]
    assert ledger.violations(final, sent) == []


async def test_a_socket_of_one_server_sees_every_event_of_a_turn_that_the_other_runs(
    serve: Serve, postgres: PostgresServer, tmp_path: Path
) -> None:
    pair = await start_pair(serve, postgres)
    gate = tmp_path / "gate"
    words = " ".join(f"[[say: word {number}]] [[sleep: 0.005]]" for number in range(60))
    wait = f"[[bash: until test -e {gate}; do sleep 0.05; done]]"
    text = f"{wait} {words} [[bash: true]] [[say: the end]]"
    async with pair.servers[0].client() as client:
        session_id = await client.session()
        sent = [Sent("talking-1", session_id, text, "the end")]
        await client.say(session_id, text, input_id="talking-1")
    _, other = await pair.running_and_other(session_id)

    async with other.client() as client, client.watch(session_id, after=0) as socket:
        gate.touch()
        frames = await _frames_until(socket, "session_sync")
    final = await at_rest(pair.url)

    assert ledger.stream_violations(frames, final.events_of(session_id)) == []
    assert len([frame for frame in frames if frame["type"] == "stream_delta"]) > 1
    assert ledger.violations(final, sent) == []


async def test_the_other_server_takes_over_at_once_when_one_is_killed(
    serve: Serve, postgres: PostgresServer
) -> None:
    # Waiting for the lease to expire would take too long.
    lease, patience = 32.0, 25.0
    pair = await start_pair(serve, postgres, settings={"NAVI_TURNS_LEASE_SECONDS": str(lease)})
    doomed, survivor = pair.servers
    async with doomed.client() as client:
        silent = [await client.session() for _ in range(4)]
        speaking = [await client.session() for _ in range(4)]
        sent = [
            *[Sent(f"{each}-1", each, "[[sleep: 600]] [[say: never]]") for each in silent],
            *[Sent(f"{each}-1", each, "[[say: a]] [[sleep: 600]]") for each in speaking],
            *[Sent(f"{each}-2", each, "[[say: answer]]", "answer") for each in speaking],
        ]
        for each in sent:
            await client.say(each.session_id, each.text, input_id=each.input_id)
        for session_id in speaking:
            await _until_it_speaks(pair, session_id)
        for session_id in silent:
            await pair.running_and_other(session_id)
    doomed.kill()

    async def is_taken_over() -> bool:
        current = await pair.look()
        owners = {lane.session_id: lane.owner for lane in current.lanes if lane.owner is not None}
        return owners.keys() == set(silent) and all(
            is_owner(survivor, owner) for owner in owners.values()
        )

    await eventually(is_taken_over, what="only the survivor runs turns", patience=patience)
    async with survivor.client() as client:
        for session_id in silent:
            await client.call("POST", f"/sessions/{session_id}/stop")
    final = await at_rest(pair.url)

    assert ledger.violations(final, sent) == []
    assert any(turn.died_empty for turn in final.turns)
    assert {_outcomes(final, f"{each}-2") for each in speaking} == {("ok", None)}


@pytest.mark.proof
async def test_a_server_that_was_frozen_writes_nothing_more_into_turns_it_has_lost(
    serve: Serve, postgres: PostgresServer
) -> None:
    complaints = await _freeze_a_server(serve, postgres, NAVI)

    assert complaints == []


@pytest.mark.proof
async def test_the_checker_catches_a_server_that_ignores_the_fence(
    serve: Serve, postgres: PostgresServer
) -> None:
    complaints = await _freeze_a_server(serve, postgres, mutant(IGNORES_THE_FENCE))

    assert any("frozen-1 was delivered again" in complaint for complaint in complaints)


async def _freeze_a_server(
    serve: Serve, postgres: PostgresServer, command: Sequence[str]
) -> list[str]:
    """A turn's server hangs until the other one has taken over, then resumes."""
    settings = {"NAVI_TURNS_LEASE_SECONDS": "1"}
    pair = await start_pair(serve, postgres, settings=settings, command=command)
    async with pair.servers[0].client() as client:
        session_id = await client.session()
        sent = [
            Sent("frozen-1", session_id, "[[sleep: 4]] [[say: answer 1]]", "answer 1"),
            Sent("frozen-2", session_id, "[[say: answer 2]]", "answer 2"),
            Sent("frozen-3", session_id, "[[say: answer 3]]", "answer 3"),
        ]
        for each in sent[:2]:
            await client.say(session_id, each.text, input_id=each.input_id)
    frozen, _ = await pair.running_and_other(session_id)
    await freeze(frozen, pair.url)
    final = await at_rest(pair.url)
    assert any(turn.died_empty for turn in final.turns)
    frozen.process.send_signal(signal.SIGCONT)

    async def has_noticed() -> bool:
        return "taken over" in frozen.log()

    await eventually(has_noticed, what="the server that was frozen knows that it lost the turn")
    async with frozen.client() as client:
        await client.say(session_id, sent[2].text, input_id="frozen-3")
    return ledger.violations(await at_rest(pair.url), sent)


def _text(number: int) -> str:
    return (
        f"[[say: answer {number}]]" if number % 4 else f"[[sleep: 0.02]] [[say: answer {number}]]"
    )


async def _send_by_turns(clients: tuple[Client, Client], inputs: Sequence[Sent]) -> None:
    for number, each in enumerate(inputs):
        client = clients[number % 2]
        await client.say(each.session_id, each.text, input_id=each.input_id)


async def _until_both_are_at_work(pair: Pair) -> None:
    async def are_at_work() -> bool:
        owners = [lane.owner for lane in (await pair.look()).lanes if lane.owner is not None]
        at_work.update(
            server.process.pid
            for server in pair.servers
            if any(is_owner(server, owner) for owner in owners)
        )
        return len(at_work) == 2

    at_work: set[int] = set()
    await eventually(are_at_work, what="both servers have run turns")


async def _until_it_speaks(pair: Pair, session_id: str) -> None:
    async def has_spoken() -> bool:
        events = (await pair.look()).events_of(session_id)
        return any(event.type == "stream_delta" for event in events)

    await eventually(has_spoken, what=f"a turn of {session_id} has begun to speak")


async def _frames_until(socket: Any, type_: str) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    while not frames or frames[-1]["type"] != type_:
        frames.append(json.loads(await socket.recv()))
    return frames


def _outcomes(final: Ledger, input_id: str) -> tuple[str | None, str | None]:
    turn = final.turn_of(input_id)
    assert isinstance(turn, TurnRow)
    return turn.outcome, turn.stop_reason
