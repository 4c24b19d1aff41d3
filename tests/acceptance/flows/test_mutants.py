"""Servers with planted faults: the ledger must catch them all, and must pass the real server."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable

import pytest

from tests.acceptance.flows import ledger, mutants
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.failpoints import FAILPOINTS, die_at
from tests.acceptance.flows.ledger import Ledger, Sent
from tests.acceptance.flows.mutants import mutant
from tests.acceptance.flows.pair import freeze, start_pair
from tests.acceptance.flows.steps import add_automation, saw, schedule, turns_ended, until
from tests.acceptance.flows.storm import Storm, at_rest
from tests.acceptance.flows.workloads.automations import (
    SHORT_BEATS,
    Automations,
    let_beat,
    switch_off,
)
from tests.acceptance.flows.workloads.messages import Messages
from tests.postgres import PostgresServer
from tests.server import Client
from tests.waiting import eventually

pytestmark = pytest.mark.proof

Scenario = Callable[[Serve, str], Awaitable[list[str]]]
"""What the ledger says after a story with a server that has a fault; "" is the real server."""


# Inputs.


async def kill_a_silent_and_a_speaking_turn(serve: Serve, fault: str) -> list[str]:
    store, sent = await _kill_a_silent_and_a_speaking_turn(serve, fault)
    return ledger.violations(store, sent)


async def _kill_a_silent_and_a_speaking_turn(serve: Serve, fault: str) -> tuple[Ledger, list[Sent]]:
    """Two turns that never end; the kill comes after the first output of one."""
    server = serve(command=mutant(fault))
    async with server.client() as client:
        silent, speaking = await client.session(), await client.session()
        sent = [
            Sent("silent-1", silent, "[[sleep: 600]] [[say: done]]"),
            Sent("speaking-1", speaking, "[[say: begun]] [[sleep: 600]] [[say: done]]"),
        ]
        for each in sent:
            await client.say(each.session_id, each.text, input_id=each.input_id)
        await until(client, speaking, saw("stream_delta"))
        await until(client, silent, saw("stream_start"))
    server.kill()
    server.start()
    async with server.client() as client:
        await _stop_until_at_rest(client, server.database_url, [silent, speaking])
    return ledger.read(server.database_url), sent


async def _stop_until_at_rest(client: Client, database_url: str, session_ids: list[str]) -> None:
    """A turn that was delivered again would not end either."""

    async def is_so() -> bool:
        for session_id in session_ids:
            await client.call("POST", f"/sessions/{session_id}/stop")
        _, is_quiet = await asyncio.to_thread(ledger.progress, database_url)
        return is_quiet

    await eventually(is_so, what="every turn is stopped")


async def send_one_input(serve: Serve, fault: str) -> list[str]:
    server = serve(command=mutant(fault))
    async with server.client() as client:
        session_id = await client.session()
        await client.say(session_id, "hello", input_id="forgotten")
    store = await at_rest(server.database_url)
    return ledger.violations(store, [Sent("forgotten", session_id, "hello")])


# Messages.


async def send_three_messages(serve: Serve, fault: str) -> list[str]:
    workload = Messages(messages=3)
    return (await Storm([serve(command=mutant(fault))], workload, seed=8).run(0)).violations


# Recalls.


async def die_after_claiming_a_recall(serve: Serve, fault: str) -> list[str]:
    server = serve(command=mutant(FAILPOINTS + fault))
    server.kill()

    async def work() -> None:
        async with server.client() as client:
            await schedule(client, await client.session(), "immediate", "[[say: awake]]")

    await die_at(server, f"after {'__main__' if fault else 'due_recalls'}.claim:1", work)
    return ledger.violations(await at_rest(server.database_url))


async def kill_while_a_recall_speaks(serve: Serve, fault: str) -> list[str]:
    server = serve(command=mutant(fault))
    async with server.client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[say: half]] [[sleep: 600]]")
        await until(client, session_id, saw("stream_delta"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(1))
    return ledger.violations(await at_rest(server.database_url))


async def let_recalls_come_due(serve: Serve, fault: str) -> list[str]:
    server = serve(command=mutant(fault))
    async with server.client() as client:
        session_ids = [await client.session() for _ in range(3)]
        for number, session_id in enumerate(session_ids, start=2):
            await schedule(client, session_id, "once", "[[say: awake]]", when=f"{number}s")
        for session_id in session_ids:
            await until(client, session_id, turns_ended(1))
    return ledger.violations(await at_rest(server.database_url))


async def kill_a_silent_beat(serve: Serve, fault: str) -> list[str]:
    """A beat begins a second time, long before the next one is due."""
    server = serve(command=mutant(fault))
    async with server.client() as client:
        session_id = await client.session()
        task = "[[sleep: 2]] [[say: looked]]"
        await schedule(client, session_id, "recurring", task, when="1s", interval_seconds=600)
        await until(client, session_id, saw("stream_start"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(2))
    return ledger.violations(await at_rest(server.database_url))


async def stop_the_server_of_a_silent_recall(serve: Serve, fault: str) -> list[str]:
    """What is wrong just after the turn was given back, before another server runs it."""
    server = serve(command=mutant(fault))
    async with server.client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[sleep: 600]]")
        await until(client, session_id, saw("stream_start"))
    server.stop()
    store = ledger.read(server.database_url)
    assert [beat.turn_id for beat in store.beats] == [None]
    return ledger.momentary_violations(store)


# Automations.


async def die_when_an_automation_is_due(serve: Serve, fault: str) -> list[str]:
    server = serve(command=mutant(FAILPOINTS + fault))
    async with server.client() as client:
        session_id = await client.session()
        await add_automation(client, session_id, "monitor", message="[[say: looked]]", at="2s")
    server.kill()
    await die_at(server, f"after {'__main__.move_on' if fault else 'due_automations.claim'}:1")
    return ledger.violations(await at_rest(server.database_url))


async def kill_while_a_run_speaks(serve: Serve, fault: str) -> list[str]:
    server = serve(command=mutant(fault))
    async with server.client() as client:
        session_id = await client.session()
        await add_automation(
            client, session_id, "monitor", message="[[say: half]] [[sleep: 600]]", at="1s"
        )
        await until(client, session_id, saw("stream_delta"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(1))
    return ledger.violations(await at_rest(server.database_url))


async def die_while_answers_are_delivered(serve: Serve, fault: str) -> list[str]:
    command = mutant(SHORT_BEATS + FAILPOINTS + fault)
    server = serve(settings=Automations.settings, command=command)
    await let_beat(server)
    await die_at(server, f"after {'__main__.mark' if fault else 'background_answers.deliver'}:1")
    await switch_off(server)
    return ledger.violations(await at_rest(server.database_url))


CASES: dict[str, tuple[Scenario, str, str]] = {
    "never gives inputs back": (
        kill_a_silent_and_a_speaking_turn,
        mutants.NEVER_GIVES_BACK,
        "silent-1 is lost",
    ),
    "always gives inputs back": (
        kill_a_silent_and_a_speaking_turn,
        mutants.ALWAYS_GIVES_BACK,
        "speaking-1 was delivered again",
    ),
    "confirms what it does not store": (
        send_one_input,
        mutants.FORGETS_ADMISSIONS,
        "input forgotten was confirmed but is not stored",
    ),
    "tells no sender that a turn has ended": (
        send_three_messages,
        mutants.TELLS_NOBODY_OF_THE_END,
        "the sender was told 0 times that turn",
    ),
    "claims recalls and admits them in two transactions": (
        die_after_claiming_a_recall,
        mutants.CLAIMS_AND_ADMITS_APART,
        "is pending, but input",
    ),
    "ends recalls before their turns": (
        kill_while_a_recall_speaks,
        mutants.ENDS_RECALLS_BEFORE_THEIR_TURNS,
        "says ok (None) but its turn ended as error",
    ),
    "delivers recalls before their time": (
        let_recalls_come_due,
        mutants.DELIVERS_AHEAD_OF_TIME,
        "was delivered before its time",
    ),
    "loses beats when turns are given back": (
        kill_a_silent_beat,
        mutants.MOVES_ON_TWICE,
        "as missed, but 1 were",
    ),
    "shows recalls as running while their inputs wait": (
        stop_the_server_of_a_silent_recall,
        mutants.FORGETS_WHO_WAITS,
        "is running, but input",
    ),
    "moves automations on and admits their runs in two transactions": (
        die_when_an_automation_is_due,
        mutants.MOVES_ON_AND_ADMITS_APART,
        "came 1 times, but ran 0 times and missed 0",
    ),
    "says how a run ended before it did": (
        kill_while_a_run_speaks,
        mutants.SAYS_HOW_IT_ENDED_WHEN_IT_BEGINS,
        "is turn_completed but its turn ended as error",
    ),
    "delivers answers in two transactions": (
        die_while_answers_are_delivered,
        mutants.DELIVERS_IN_TWO_STEPS,
        "is delivered, and its answer came 0 times",
    ),
}
SCENARIOS = {scenario.__name__: scenario for scenario, _, _ in CASES.values()}


@pytest.mark.parametrize(("scenario", "fault", "objection"), CASES.values(), ids=CASES.keys())
async def test_the_ledger_catches_a_server_that(
    serve: Serve, scenario: Scenario, fault: str, objection: str
) -> None:
    assert objection in "\n".join(await scenario(serve, fault))


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
async def test_the_ledger_has_no_objection_to_the_real_server(
    serve: Serve, scenario: Scenario
) -> None:
    assert await scenario(serve, "") == []


async def test_a_silent_turn_runs_again_after_a_kill_and_a_speaking_one_does_not(
    serve: Serve,
) -> None:
    store, (silent, speaking) = await _kill_a_silent_and_a_speaking_turn(serve, "")
    sessions = [turn.session_id for turn in store.turns]

    assert sessions.count(silent.session_id) == 2
    assert sessions.count(speaking.session_id) == 1


async def test_a_recall_whose_server_was_frozen_is_run_by_the_other_and_ends_once(
    serve: Serve, postgres: PostgresServer
) -> None:
    assert await _freeze_during_a_recall(serve, postgres, "") == []


async def test_the_ledger_catches_a_server_that_ignores_the_fence_of_a_recall(
    serve: Serve, postgres: PostgresServer
) -> None:
    complaints = await _freeze_during_a_recall(serve, postgres, mutants.IGNORES_THE_FENCE)

    assert any("was delivered again" in complaint for complaint in complaints)


async def _freeze_during_a_recall(serve: Serve, postgres: PostgresServer, fault: str) -> list[str]:
    """The server of a recall's turn hangs until the other one has run it, then resumes."""
    settings = {"NAVI_TURNS_LEASE_SECONDS": "1"}
    pair = await start_pair(serve, postgres, settings=settings, command=mutant(fault))
    async with pair.servers[0].client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[sleep: 4]] [[say: awake]]")
    frozen, other = await pair.running_and_other(session_id)
    await freeze(frozen, pair.url)
    async with other.client() as client:
        await until(client, session_id, turns_ended(2))
    frozen.process.send_signal(signal.SIGCONT)

    async def has_noticed() -> bool:
        return "taken over" in frozen.log()

    await eventually(has_noticed, what="the server that was frozen knows that it lost the turn")
    return ledger.violations(await at_rest(pair.url))
