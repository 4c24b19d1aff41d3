"""Automations that are claimed ahead of their instants."""

from __future__ import annotations

from datetime import timedelta

from navi.live.store import input_queue
from navi.live.store.due.due_automations import DueAutomations
from tests.integration.store.automation_steps import HOUR, add, begin, finish, now_of
from tests.store_world import NOON, World, claim

DUE = DueAutomations(keep_runs=50)
SECOND = timedelta(seconds=1)


async def test_an_occurrence_is_not_missed_before_its_time_because_a_run_has_not_ended(
    world: World,
) -> None:
    session = await world.session()
    made = await add(world, session)
    world.now = NOON + HOUR
    await claim(world.store, DUE, world.now)
    begun = await begin(world, session.id)

    world.now = NOON + 2 * HOUR - 2 * SECOND
    assert (await claim(world.store, DUE, world.now + SECOND, ahead=SECOND)).count == 0
    await finish(world, begun)
    assert (await claim(world.store, DUE, world.now, ahead=SECOND)).count == 1

    (waiting,) = await world.store.transact(input_queue.list_inputs, session.id)
    assert waiting.not_before == NOON + 2 * HOUR
    assert (await now_of(world, made)).missed_count == 0


async def test_an_occurrence_whose_time_comes_while_a_run_goes_on_is_missed(world: World) -> None:
    session = await world.session()
    made = await add(world, session)
    world.now = NOON + HOUR
    await claim(world.store, DUE, world.now)
    await begin(world, session.id)

    assert (await claim(world.store, DUE, NOON + 2 * HOUR, ahead=SECOND)).count == 1
    after = await now_of(world, made)
    assert (after.next_run_at, after.missed_count) == (NOON + 3 * HOUR, 1)
