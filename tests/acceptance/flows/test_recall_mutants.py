"""Servers with deliberate faults in how they fire recalls: the checker must catch them all."""

from __future__ import annotations

import signal
from collections.abc import Sequence

import pytest

from tests.acceptance.flows import recall_ledger
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.failpoints import (
    FAILPOINTS,
    WITH_FAILPOINTS,
    set_failpoint,
    work_until_it_dies,
)
from tests.acceptance.flows.pair import freeze, start_pair
from tests.acceptance.flows.steps import saw, schedule, turns_ended, until
from tests.acceptance.flows.storm import eventually
from tests.acceptance.flows.test_mutants import mutant
from tests.acceptance.flows.test_recalls import books_at_rest
from tests.acceptance.flows.test_two_servers import IGNORES_THE_FENCE
from tests.postgres import PostgresServer
from tests.server import NAVI, ServerProcess

pytestmark = pytest.mark.proof

CLAIMS_AND_ADMITS_APART = """
from navi.runtime import scheduler
from navi.store import lanes, queue
from navi.store.due.contract import Claimed
admit_all = queue.admit_all
def claim(connection, kind, now, until):
    apart = []
    def remember(connection, arrivals, now):
        apart.extend(new for lane, new in arrivals)
        return []
    queue.admit_all = remember
    try:
        kind.claim(connection, now, until, scheduler.BATCH)
    finally:
        queue.admit_all = admit_all
    return apart
def admit_claimed(connection, apart, now):
    arrivals = [(lanes.lock(connection, new.session_id), new) for new in apart]
    owners = {lane.session.id: lane.session.user_id for lane, _ in arrivals}
    return Claimed(len(apart), admit_all(connection, arrivals, now), owners)
async def claim_batch(self, kind):
    now = self._clock.now()
    apart = await self._store.transact(claim, kind, now, now + kind.lead)
    if apart:
        self._queue.expect(await self._store.transact(admit_claimed, apart, now))
    return len(apart)
scheduler.Scheduler._claim_batch = claim_batch
"""

ENDS_RECALLS_BEFORE_THEIR_TURNS = """
from navi.domain.turn import Ending, Outcome
from navi.store import recalls, turns
begin = turns.begin
def begin_and_end(connection, session_id, claim):
    begun = begin(connection, session_id, claim)
    if begun is not None:
        recalls.turn_ended(connection, begun.turn.input, Ending(Outcome.OK), None, claim.now)
    return begun
turns.begin = begin_and_end
"""

DELIVERS_AHEAD_OF_TIME = """
from datetime import timedelta
from navi.runtime import queue as running
from navi.store import lanes, queue
ready, next_input, lead = lanes.ready, queue.next_input, timedelta(seconds=1)
def ready_ahead(connection, now, limit, *, full):
    return ready(connection, now + lead, limit, full=full)
def next_input_ahead(connection, session_id, origins, now):
    return next_input(connection, session_id, origins, now + lead)
lanes.ready, queue.next_input = ready_ahead, next_input_ahead
running.Queue.expect = lambda self, claimed: self.poke()
"""

MOVES_ON_TWICE = """
from navi.store import recalls
recalls.turn_given_back = lambda *arguments: None
recalls._is_planned = lambda of, recall: True
"""

FORGETS_WHO_WAITS = """
from navi.store import origins
origins.turn_given_back = lambda *arguments: None
"""


async def test_the_checker_catches_a_server_that_claims_and_admits_in_two_transactions(
    serve: Serve,
) -> None:
    command = mutant(FAILPOINTS + CLAIMS_AND_ADMITS_APART)

    assert await _die_after_the_claim(serve, WITH_FAILPOINTS, "after recalls.claim:1") == []
    complaints = await _die_after_the_claim(serve, command, "after __main__.claim:1")
    assert any("is pending, but input" in each for each in complaints)


async def test_the_checker_catches_a_server_that_ends_recalls_before_their_turns(
    serve: Serve,
) -> None:
    complaints = await _kill_while_it_speaks(serve(command=mutant(ENDS_RECALLS_BEFORE_THEIR_TURNS)))

    assert any("says ok (None) but its turn ended as error" in each for each in complaints)


async def test_the_checker_catches_a_server_that_delivers_recalls_ahead_of_their_time(
    serve: Serve,
) -> None:
    server = serve(command=mutant(DELIVERS_AHEAD_OF_TIME))
    async with server.client() as client:
        session_ids = [await client.session() for _ in range(3)]
        for number, session_id in enumerate(session_ids, start=2):
            await schedule(client, session_id, "once", "[[say: awake]]", when=f"{number}s")
        for session_id in session_ids:
            await until(client, session_id, turns_ended(1))
    complaints = recall_ledger.violations(await books_at_rest(server.database_url))

    assert any("was delivered before its time" in each for each in complaints)


async def test_the_checker_catches_a_server_that_loses_beats_when_turns_are_given_back(
    serve: Serve,
) -> None:
    assert await _kill_a_silent_beat(serve(command=NAVI)) == []
    complaints = await _kill_a_silent_beat(serve(command=mutant(MOVES_ON_TWICE)))
    assert any("as missed, but 1 were" in each for each in complaints)


async def test_the_checker_catches_a_server_whose_recalls_run_while_their_inputs_wait(
    serve: Serve,
) -> None:
    assert await _stop_a_silent_turn(serve(command=NAVI)) == []
    complaints = await _stop_a_silent_turn(serve(command=mutant(FORGETS_WHO_WAITS)))
    assert any("is running, but input" in each for each in complaints)


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


async def _kill_a_silent_beat(server: ServerProcess) -> list[str]:
    """A beat begins a second time, long before the next one is due."""
    async with server.client() as client:
        session_id = await client.session()
        task = "[[sleep: 2]] [[say: looked]]"
        await schedule(client, session_id, "recurring", task, when="1s", interval_seconds=600)
        await until(client, session_id, saw("stream_start"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(2))
    return recall_ledger.violations(await books_at_rest(server.database_url))


async def _stop_a_silent_turn(server: ServerProcess) -> list[str]:
    """What is wrong just after the turn was given back, before another server runs it."""
    async with server.client() as client:
        session_id = await client.session()
        await schedule(client, session_id, "immediate", "[[sleep: 600]]")
        await until(client, session_id, saw("stream_start"))
    server.stop()
    books = recall_ledger.read(server.database_url)
    assert [beat.turn_id for beat in books.beats] == [None]
    return list(recall_ledger.momentary_violations(books))


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
