"""Servers with deliberate faults in how they fire recalls: the checker must catch them all."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from tests.flows import recall_ledger
from tests.flows.conftest import Serve
from tests.flows.failpoints import FAILPOINTS, WITH_FAILPOINTS, set_failpoint, work_until_it_dies
from tests.flows.storm import eventually
from tests.flows.test_mutants import mutant
from tests.flows.test_recalls import books_at_rest, saw, schedule, turns_ended, until
from tests.flows.test_two_servers import IGNORES_THE_FENCE, freeze, start_pair
from tests.postgres import PostgresServer
from tests.server import NAVI, ServerProcess

CLAIMS_AND_ADMITS_APART = """
from navi.runtime import clock, recall_due
from navi.store import due, lanes
fire, admit = due.fire, due._admit
def claim(connection, now):
    claimed = []
    due._admit = lambda connection, firing, drafts, now: claimed.append((firing, drafts))
    fire(connection, now, recall_due.BATCH, recall_due.compose)
    return claimed
def admit_claimed(connection, claimed, now):
    for firing, drafts in claimed:
        for row in firing:
            lanes.lock(connection, row.session_id)
        admit(connection, firing, drafts, now)
async def fire_due(self, kinds):
    now = self._clock.now()
    if claimed := await self._store.transact(claim, now):
        await self._store.transact(admit_claimed, claimed, now)
        self._on_fired(None)
    return len(claimed)
clock.DueLoop.fire_due = fire_due
"""

ENDS_RECALLS_BEFORE_THEIR_TURNS = """
from navi.domain.turn import Ending, Outcome
from navi.store import recalls, turns
begin = turns.begin
def begin_and_end(connection, session_id, claim):
    begun = begin(connection, session_id, claim)
    if begun is not None:
        recalls.turn_ended(connection, begun.turn.input, Ending(Outcome.OK), claim.now)
    return begun
turns.begin = begin_and_end
"""


async def test_the_checker_catches_a_server_that_claims_and_admits_in_two_transactions(
    serve: Serve,
) -> None:
    command = mutant(FAILPOINTS + CLAIMS_AND_ADMITS_APART)

    assert await _die_after_the_claim(serve, WITH_FAILPOINTS, "after due.fire:1") == []
    complaints = await _die_after_the_claim(serve, command, "after __main__.claim:1")
    assert any("is told to run, with 0 inputs, but nothing runs" in each for each in complaints)


async def test_the_checker_catches_a_server_that_ends_recalls_before_their_turns(
    serve: Serve,
) -> None:
    complaints = await _kill_while_it_speaks(serve(command=mutant(ENDS_RECALLS_BEFORE_THEIR_TURNS)))

    assert any("says ok (None) but its turn ended as error" in each for each in complaints)


async def test_a_recall_whose_server_was_frozen_is_run_by_the_other_and_ends_once(
    serve: Serve, postgres: PostgresServer
) -> None:
    assert await _freeze_during_a_recall(serve, postgres, NAVI) == []


async def test_the_checker_catches_a_server_that_ignores_the_fence_of_a_recall(
    serve: Serve, postgres: PostgresServer
) -> None:
    complaints = await _freeze_during_a_recall(serve, postgres, mutant(IGNORES_THE_FENCE))

    assert any("was delivered again" in complaint for complaint in complaints)


async def _die_after_the_claim(serve: Serve, command: Sequence[str], failpoint: str) -> list[str]:
    server = serve(command=command)
    server.kill()
    set_failpoint(server, failpoint)

    async def work() -> None:
        async with server.client() as client:
            session_id = await client.session()
            await schedule(client, session_id, "immediate", "[[say: awake]]")

    await work_until_it_dies(server, work)
    set_failpoint(server, None)
    server.start()
    return recall_ledger.violations(await books_at_rest(server.database_url))


async def _kill_while_it_speaks(server: ServerProcess) -> list[str]:
    async with server.client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[say: half]] [[sleep: 600]]")
        await until(client, session_id, saw("stream_delta"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(1))
    return recall_ledger.violations(await books_at_rest(server.database_url))


async def _freeze_during_a_recall(
    serve: Serve, postgres: PostgresServer, command: Sequence[str]
) -> list[str]:
    """The server of a recall's turn hangs until the other one has run it, and then goes on."""
    settings = {"NAVI_TURNS_LEASE_SECONDS": "1"}
    pair = await start_pair(serve, postgres, settings=settings, command=command)
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
    return recall_ledger.violations(await books_at_rest(pair.url))
