"""The server dies right before and right after the commits on the way of an automation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.acceptance.flows import automation_ledger
from tests.acceptance.flows.automation_ledger import Asked, Books
from tests.acceptance.flows.automation_storm import SETTINGS, SHORT_BEATS, UNBOUND, add_unbound
from tests.acceptance.flows.conftest import Serve
from tests.acceptance.flows.failpoints import (
    FAILPOINTS,
    WITH_FAILPOINTS,
    set_failpoint,
    work_until_it_dies,
)
from tests.acceptance.flows.steps import add_automation as add
from tests.acceptance.flows.steps import saw, turns_ended, until
from tests.acceptance.flows.test_automations import books_at_rest, nothing
from tests.acceptance.flows.test_mutants import mutant
from tests.server import ServerProcess

pytestmark = pytest.mark.proof

# Many servers start one after the other, and a busy machine takes its time.
OPERATIONS = (
    "automations.claim",
    "turns.drop",
    "turns.finish",
    "deliveries.deliver",
)
# Only while it is to die: a store with a heartbeat each second never comes to rest.
SHORT_HEARTBEAT = """
import os
from datetime import timedelta
from navi.runtime import app
from navi.runtime.system_jobs import Wishes
beat = timedelta(seconds=1 if "FAILPOINT" in os.environ else 3600)
app.wishes_of = lambda settings: Wishes(beat, None)
"""
BUSY = mutant(SHORT_BEATS + SHORT_HEARTBEAT + FAILPOINTS)

MOVES_ON_AND_ADMITS_APART = """
from navi.runtime import scheduler
from navi.store import automation_runs, automations, lanes, queue
from navi.store.due.contract import Claimed
begin = automation_runs.begin
def move_on(connection, kind, now, until):
    apart = []
    def only_move_on(connection, lane, automation, its, keep, now):
        automations.change(connection, automation, now, **automation_runs._following(its))
        apart.append((automation, its, keep))
    automation_runs.begin = only_move_on
    try:
        kind.claim(connection, now, until, scheduler.BATCH)
    finally:
        automation_runs.begin = begin
    return apart
def admit(connection, apart, now):
    inputs, owners = [], {}
    for automation, its, keep in apart:
        lane = lanes.lock(connection, automation.session_id)
        owners[lane.session.id] = lane.session.user_id
        new = begin(connection, lane, automation, its, keep, now)
        inputs += queue.admit_all(connection, [(lane, new)], now)
    return Claimed(len(apart), inputs, owners)
async def claim_batch(self, kind):
    now = self._clock.now()
    apart = await self._store.transact(move_on, kind, now, now + kind.lead)
    if apart:
        self._queue.expect(await self._store.transact(admit, apart, now))
    return len(apart)
scheduler.Scheduler._claim_batch = claim_batch
"""

SAYS_HOW_IT_ENDED_WHEN_IT_BEGINS = """
from navi.domain.turn import Ending, Outcome
from navi.store import automation_runs
began, ended = automation_runs.turn_began, automation_runs.turn_ended
def end_at_once(connection, begun, now, zone):
    prompted = began(connection, begun, now, zone)
    ended(connection, begun, Ending(Outcome.OK), None, now)
    return prompted
automation_runs.turn_began = end_at_once
automation_runs.turn_ended = lambda *arguments: None
"""

DELIVERS_IN_TWO_STEPS = """
from navi.domain.automation import Delivery
from navi.runtime.deliveries import Deliveries
from navi.store import automation_runs, deliveries
settle_delivery = automation_runs.settle_delivery
def mark(connection, run_id):
    return settle_delivery(connection, run_id, Delivery.DELIVERED)
def tell(connection, each, now):
    automation_runs.settle_delivery = lambda *arguments: True
    return deliveries.deliver(connection, each, now)
async def settle(self, each):
    await self._store.transact(mark, each.run.id)
    await self._store.transact(tell, each, self._clock.now())
Deliveries._settle = settle
"""


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    # Each operation on both stores; all combinations would only take longer.
    ("moment", "number", "database_url"),
    [("before", 1, "sqlite"), ("after", 2, "postgresql")],
    indirect=["database_url"],
)
async def test_automations_survive_a_death_at_the_first_or_second_commit(
    serve: Serve, database_url: str | None, operation: str, moment: str, number: int
) -> None:
    server = serve(database_url, settings=SETTINGS, command=BUSY)
    await let_beat(server)
    set_failpoint(server, f"{moment} {operation}:{number}")
    await work_until_it_dies(server, nothing)
    set_failpoint(server, None)
    server.start()
    books = await at_rest_after_switching_off(server)

    assert automation_ledger.violations(books, asked=[Asked("bound")]) == []
    assert books.runs


async def test_the_checker_catches_a_server_that_moves_on_and_admits_in_two_transactions(
    serve: Serve,
) -> None:
    apart = mutant(FAILPOINTS + MOVES_ON_AND_ADMITS_APART)

    assert await _die_when_due(serve, WITH_FAILPOINTS, "after automations.claim:1") == []
    complaints = await _die_when_due(serve, apart, "after __main__.move_on:1")
    assert any("came 1 times, but ran 0 times and missed 0" in each for each in complaints)


async def test_the_checker_catches_a_server_that_says_how_a_run_ended_before_it_did(
    serve: Serve,
) -> None:
    server = serve(command=mutant(SAYS_HOW_IT_ENDED_WHEN_IT_BEGINS))
    async with server.client() as client:
        session_id = await client.session()
        task = "[[say: half]] [[sleep: 600]]"
        await add(client, session_id, "monitor", message=task, at="1s")
        await until(client, session_id, saw("stream_delta"))
    server.kill()
    server.start()
    async with server.client() as client:
        await until(client, session_id, turns_ended(1))
    complaints = automation_ledger.violations(await books_at_rest(server.database_url))

    assert any("is turn_completed but its turn ended as error" in each for each in complaints)


async def test_the_checker_catches_a_server_that_delivers_in_two_steps(serve: Serve) -> None:
    server = serve(
        settings=SETTINGS, command=mutant(SHORT_BEATS + FAILPOINTS + DELIVERS_IN_TWO_STEPS)
    )
    await let_beat(server)
    set_failpoint(server, "after __main__.mark:1")
    await work_until_it_dies(server, nothing)
    set_failpoint(server, None)
    server.start()
    books = await at_rest_after_switching_off(server)

    complaints = automation_ledger.violations(books)
    assert any("is delivered, and its answer told 0 times" in each for each in complaints)


async def let_beat(server: ServerProcess) -> None:
    """A bound automation and some unbound ones, every second or so. The server is dead then."""
    async with server.client() as client:
        session_id = await client.session()
        await add(client, session_id, "bound", message="[[say: looked]]", every_seconds=1)
    server.kill()
    await asyncio.to_thread(add_unbound, server.database_url, session_id)


async def at_rest_after_switching_off(server: ServerProcess) -> Books:
    async with server.client() as client:
        listed = await client.call("GET", "/automations")
        for each in listed:
            if each["category"] != "system" and each["enabled"]:
                await client.call("PATCH", f"/automations/{each['id']}", {"enabled": False})
        assert len(listed) == UNBOUND + 3
    return await books_at_rest(server.database_url)


async def _die_when_due(serve: Serve, command: Sequence[str], failpoint: str) -> list[str]:
    server = serve(command=command)
    async with server.client() as client:
        session_id = await client.session()
        await add(client, session_id, "monitor", message="[[say: looked]]", at="2s")
    server.kill()
    set_failpoint(server, failpoint)
    await work_until_it_dies(server, nothing)
    set_failpoint(server, None)
    server.start()
    return automation_ledger.violations(await books_at_rest(server.database_url))
