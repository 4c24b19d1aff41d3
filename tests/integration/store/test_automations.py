from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from navi.live.model.event import TextDelta, Usage
from navi.live.model.message import drafts_of
from navi.live.model.scheduling.automation import (
    Automation,
    Delivery,
    Guards,
    Run,
    RunState,
    Target,
)
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome, RunningTurn
from navi.live.runtime.scheduler.system_jobs import SystemJobs, SystemSchedules, hidden_session
from navi.live.store import input_queue, lanes, transcript, turns
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.engine import schema
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import (
    automation_runs,
    automations,
    background_answers,
    hidden_sessions,
)
from tests.integration.store.automation_steps import HOUR, add, automation, begin, finish, now_of
from tests.store_world import NOON, World, claim

DUE = DueAutomations(keep_runs=50)


class Hands:
    """A clock that is set by hand."""

    def __init__(self, world: World) -> None:
        self.world = world

    def now(self) -> datetime:
        return self.world.now


async def add_apart(world: World, target: Session) -> Automation:
    """An automation that runs in a hidden session and delivers to another."""
    apart = automation(None, target=Target("web", target.id, deliver=True))
    session = hidden_session(apart, "/", "scripted", NOON)
    await world.store.transact(hidden_sessions.add_or_update, session, apart, NOON)
    return apart


async def fire(world: World, now: datetime) -> int:
    """How many due automations were processed."""
    world.now = now
    return (await claim(world.store, DUE, now)).count


async def runs_of(world: World, made: Automation) -> list[Run]:
    return await world.store.transact(automation_runs.list_runs, made.id)


async def close_dead(world: World, session: Session) -> bool:
    (dead,) = await world.store.transact(lanes.running, [session.id])
    return await world.store.transact(turns.close_dead, dead, world.later())


async def test_due_and_admitted_and_moved_on_are_one_step(world: World) -> None:
    session = await world.session()
    made = await add(world, session)
    assert await fire(world, NOON + HOUR - timedelta(microseconds=1)) == 0
    assert await fire(world, NOON + HOUR) == 1
    assert await fire(world, NOON + HOUR) == 0

    (waiting,) = await world.store.transact(input_queue.list_inputs, session.id)
    (run,) = await runs_of(world, made)
    assert waiting.id == run.id
    assert run.state is RunState.QUEUED
    assert (await now_of(world, made)).next_run_at == NOON + 2 * HOUR


async def test_two_servers_that_find_it_due_at_the_same_moment_admit_it_once(world: World) -> None:
    session = await world.session()
    made = await add(world, session)
    other = Store(world.url)
    other.start()
    world.now = NOON + HOUR
    both = [claim(each, DUE, world.now) for each in (world.store, other)]

    claimed = await asyncio.gather(*both)
    await other.close()

    assert sum(each.count for each in claimed) == 1
    assert len(await world.store.transact(input_queue.list_inputs, session.id)) == 1
    assert len(await runs_of(world, made)) == 1


async def test_an_occurrence_that_meets_its_own_run_is_none_of_its_last_runs(
    world: World,
) -> None:
    """It must still reach its number of runs."""
    session = await world.session()
    made = await add(world, session, guards=Guards(max_runs=2))
    await fire(world, NOON + HOUR)
    begun = await begin(world, session.id)
    await fire(world, NOON + 2 * HOUR)
    met = await now_of(world, made)
    assert (met.enabled, met.run_count, met.missed_count) == (True, 1, 1)
    assert met.next_run_at == NOON + 3 * HOUR
    await finish(world, begun)

    await fire(world, NOON + 3 * HOUR)
    last = await now_of(world, made)
    assert (last.enabled, last.ended, last.run_count) == (True, None, 2)
    assert (last.next_run_at, last.active_run_state) == (None, "queued")

    await finish(world, await begin(world, session.id))
    last = await now_of(world, made)
    assert (last.enabled, last.ended, last.active_run_state) == (False, "done", None)


async def test_an_occurrence_that_meets_its_own_run_may_be_the_last_before_it_expires(
    world: World,
) -> None:
    session = await world.session()
    made = await add(world, session, guards=Guards(expires_at=NOON + 2 * HOUR))
    await fire(world, NOON + HOUR)
    await begin(world, session.id)
    await fire(world, NOON + 2 * HOUR)
    met = await now_of(world, made)
    assert (met.enabled, met.ended, met.missed_count) == (False, "expired", 1)


async def test_what_comes_due_while_its_session_was_waited_for_is_not_forgotten(
    world: World,
) -> None:
    """By then the session may have a later time than the scheduler planned."""
    session = await world.session()
    made = await add(world, session)
    await fire(world, NOON + HOUR)
    world.now = NOON + 3 * HOUR + timedelta(minutes=5)
    await begin(world, session.id)
    await fire(world, NOON + 2 * HOUR)
    met = await now_of(world, made)
    assert (met.missed_count, met.next_run_at) == (1, NOON + 3 * HOUR)


async def test_a_run_whose_process_died_before_it_did_anything_waits_again(world: World) -> None:
    session = await world.session()
    made = await add(world, session)
    await fire(world, NOON + HOUR)
    await begin(world, session.id)
    (running,) = await runs_of(world, made)
    assert running.state is RunState.RUNNING
    assert await close_dead(world, session)

    (again,) = await runs_of(world, made)
    assert (again.id, again.state, again.started_at) == (running.id, RunState.QUEUED, None)
    assert (await now_of(world, made)).last_status is None
    await finish(world, await begin(world, session.id))
    (done,) = await runs_of(world, made)
    assert done.state is RunState.TURN_COMPLETED


async def test_what_is_delivered_while_a_silent_turn_dies_keeps_its_place(world: World) -> None:
    """The turn is undone, and its input comes after what was delivered meanwhile."""
    target = await world.session()
    apart = await add_apart(world, target)
    await fire(world, NOON + HOUR)
    await finish(world, await begin(world, apart.session_id), "news")
    await world.begun(target, "hello")
    (waiting,) = await world.store.transact(background_answers.list_pending)
    assert await world.store.transact(background_answers.deliver, waiting, world.later())
    assert await close_dead(world, target)

    begun = await begin(world, target.id)
    await finish(world, begun, "hi")

    messages = await world.store.transact(transcript.read, target.id)
    assert [message.content for message in messages] == ["news", "hello", "hi"]
    assert [message.content for message in begun.history] == ["news"]
    # A reader that had reached the delivered message finds the others after it.
    assert [m.content for m in messages if m.idx > messages[0].idx] == ["hello", "hi"]


async def test_an_answer_is_delivered_once_by_whichever_server(world: World) -> None:
    target = await world.session()
    apart = await add_apart(world, target)
    await fire(world, NOON + HOUR)
    await finish(world, await begin(world, apart.session_id), "news")
    (waiting,) = await world.store.transact(background_answers.list_pending)
    other = Store(world.url)
    other.start()

    delivered = await asyncio.gather(
        *(
            each.transact(background_answers.deliver, waiting, world.now)
            for each in (world.store, other)
        )
    )
    await other.close()

    assert sorted(delivered) == [False, True]
    (message,) = await world.store.transact(transcript.read, target.id)
    assert (message.role, message.content, message.source) == ("assistant", "news", "automation")
    assert message.metadata["automation_id"] == apart.id
    assert await world.store.transact(background_answers.list_pending) == []
    (run,) = await runs_of(world, apart)
    assert run.delivery is Delivery.DELIVERED


async def test_a_run_that_was_refused_something_is_marked_but_has_not_failed(
    world: World,
) -> None:
    outcome = Outcome.DENIED
    session = await world.session()
    made = await add(world, session, guards=Guards(max_failures=2))
    endings = [Ending(Outcome.ERROR, "broken"), *[Ending(outcome, "why not")] * 3]
    for hour, ending in enumerate(endings, start=1):
        await fire(world, NOON + hour * HOUR)
        await finish(world, await begin(world, session.id), ending=ending)

    after = await now_of(world, made)
    assert (after.enabled, after.failures_in_row) == (True, 1)
    assert (after.last_status, after.last_error) == (outcome.value, "why not")
    runs = await runs_of(world, made)
    assert [(run.state, run.outcome, run.error) for run in runs] == [
        *[(RunState.TURN_COMPLETED, outcome, "why not")] * 3,
        (RunState.FAILED, Outcome.ERROR, "broken"),
    ]

    await fire(world, NOON + 5 * HOUR)
    await finish(world, await begin(world, session.id), ending=Ending(Outcome.ERROR, "broken"))
    assert (await now_of(world, made)).ended == "failed"


@pytest.mark.parametrize("outcome", [Outcome.DENIED, Outcome.LIMIT])
async def test_what_a_refused_or_limited_run_said_is_not_delivered_as_its_answer(
    world: World, outcome: Outcome
) -> None:
    target = await world.session()
    apart = await add_apart(world, target)
    await fire(world, NOON + HOUR)
    begun = await begin(world, apart.session_id)
    await finish(world, begun, "half of it", Ending(outcome, "why not"))

    assert await world.store.transact(background_answers.list_pending) == []
    (run,) = await runs_of(world, apart)
    assert (run.outcome, run.delivery) == (outcome, None)


async def test_deciding_about_an_answer_does_not_forget_what_went_wrong(world: World) -> None:
    target = await world.session()
    apart = await add_apart(world, target)
    await fire(world, NOON + HOUR)
    begun = await begin(world, apart.session_id)
    happened = [TextDelta("half of it")]
    limit = Ending(Outcome.MAX_ITERATIONS, "it took 25 steps and was ended")
    await world.store.transact(
        turns.finish, begun.turn, 0, happened, drafts_of(happened), limit, Usage(), world.later()
    )
    (waiting,) = await world.store.transact(background_answers.list_pending)
    assert await world.store.transact(background_answers.deliver, waiting, world.later())
    (run,) = await runs_of(world, apart)
    assert run.error == "it took 25 steps and was ended"


@pytest.mark.parametrize("attempt", range(3))
async def test_two_servers_may_set_up_the_system_jobs_at_the_same_moment(
    database_url: str, attempt: int
) -> None:
    schema.prepare(database_url)
    stores = [Store(database_url) for _ in range(2)]
    for store in stores:
        store.start()
    worlds = [World(store) for store in stores]
    both = [
        SystemJobs(each.store, Hands(each), Path("/nowhere"), "scripted", UTC) for each in worlds
    ]
    schedules = SystemSchedules(HOUR, None)

    await asyncio.gather(*(each.set_up(schedules) for each in both))

    listed = await stores[0].transact(automations.list_automations)
    for store in stores:
        await store.close()
    assert sorted(each.id for each in listed) == ["dream", "heartbeat"]


async def test_a_system_job_that_had_nothing_to_do_says_what_it_missed(world: World) -> None:
    jobs = SystemJobs(world.store, Hands(world), Path("/nowhere"), "scripted", UTC)
    await jobs.set_up(SystemSchedules(HOUR, None))
    await fire(world, NOON + 3 * HOUR)
    turn = (await begin(world, "cron:heartbeat")).turn
    idle = RunningTurn(turn.id, turn.session.id, turn.fence, "me", world.now, None)

    await world.store.transact(turns.drop, idle, world.later())

    assert await world.store.transact(input_queue.list_inputs, "cron:heartbeat") == []
    assert await world.store.transact(automation_runs.list_runs, "heartbeat") == []
    heartbeat = await world.store.transact(automations.get, "heartbeat")
    assert (heartbeat.last_status, heartbeat.missed_count) == ("ok", 2)
    assert heartbeat.next_run_at == NOON + 4 * HOUR
