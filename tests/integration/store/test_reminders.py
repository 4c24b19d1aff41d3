from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from navi.base.errors import SessionStopped
from navi.base.ids import new_id
from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import DeliveryMode
from navi.live.model.message import Draft
from navi.live.model.scheduling.reminder import (
    HARD_TEXT,
    RESUME_TEXT,
    SOFT_TEXT,
    Registration,
    Reminder,
    ReminderStatus,
)
from navi.live.model.session import Session
from navi.live.model.turn import SERVER_STOPPED, Ending, Outcome, RunningTurn, StopReason
from navi.live.store import input_queue, lanes, sessions, turns
from navi.live.store.due.contract import Claimed
from navi.live.store.due.due_nudges import DueNudges
from navi.live.store.due.due_reminders import DueReminders
from navi.live.store.engine import signals
from navi.live.store.engine.transactions import Store
from navi.live.store.scheduling import one_time_reminders, reminders
from tests.store_world import World, claim, earliest

OK = Ending(Outcome.OK)
NUDGES = DueNudges()
REMINDERS = DueReminders()


def registration(session: Session, at: datetime, soft: int = 10, hard: int = 20) -> Registration:
    return Registration(new_id(), session.id, soft, hard, registered_at=at, last_reset_at=at)


async def registered(world: World, session: Session) -> Registration:
    new = registration(session, world.now)
    return await world.store.transact(reminders.register, new)


async def fire(world: World, seconds: float) -> Claimed:
    return await claim(world.store, NUDGES, world.later(seconds), limit=64)


async def waiting(world: World, session: Session) -> list[str]:
    return [each.text for each in await world.store.transact(input_queue.list_inputs, session.id)]


async def finish(world: World, begun: turns.TurnStart, ending: Ending = OK) -> None:
    await world.store.transact(
        turns.finish, begun.turn, 0, [], [Draft(content="done")], ending, Usage(), world.later()
    )


async def test_a_hard_nudge_begins_a_new_round(world: World) -> None:
    session = await world.session()
    first = await registered(world, session)
    await fire(world, 10)
    after_soft = await world.store.transact(reminders.active, session.id)
    assert after_soft == replace(first, soft_fired=True)
    await fire(world, 10)
    after_hard = await world.store.transact(reminders.active, session.id)
    assert after_hard == replace(first, last_reset_at=world.now)


async def test_a_hard_nudge_takes_the_place_of_the_soft_one_that_waits(world: World) -> None:
    session = await world.session()
    await registered(world, session)
    await fire(world, 10)
    assert await waiting(world, session) == [SOFT_TEXT]
    await fire(world, 10)
    assert await waiting(world, session) == [HARD_TEXT]


async def test_a_hard_nudge_that_interrupts_says_to_continue_the_task(world: World) -> None:
    session = await world.session()
    await world.begun(session)
    await registered(world, session)
    await fire(world, 20)
    assert await waiting(world, session) == [RESUME_TEXT]


async def test_there_are_never_two_undelivered_nudges(world: World) -> None:
    session = await world.session()
    await registered(world, session)
    for _ in range(6):
        await fire(world, 10)
    # Nobody took them: three rounds have passed.
    assert await waiting(world, session) == [HARD_TEXT]


async def test_what_looks_like_a_nudge_but_is_none_does_not_count_as_one(world: World) -> None:
    session = await world.session()
    await world.admit(session, SOFT_TEXT)
    await registered(world, session)
    await fire(world, 10)
    assert await waiting(world, session) == [SOFT_TEXT, SOFT_TEXT]
    await world.store.transact(reminders.stop, session.id, world.now)
    assert await waiting(world, session) == [SOFT_TEXT]


async def test_nothing_is_due_before_its_time_and_the_clock_learns_when(world: World) -> None:
    session = await world.session()
    assert await earliest(world.store, NUDGES) is None
    made = await registered(world, session)
    due_at = made.registered_at + timedelta(seconds=10)
    assert await earliest(world.store, NUDGES) == due_at
    assert (await fire(world, 9.9)).count == 0
    await fire(world, 0.1)
    assert await earliest(world.store, NUDGES) == due_at + timedelta(seconds=10)
    assert [each.type for each in world.published].count("remind_update") == 2


async def test_after_a_long_outage_one_nudge_comes_and_no_flood(world: World) -> None:
    session = await world.session()
    await registered(world, session)
    await fire(world, 100_000)
    assert await waiting(world, session) == [HARD_TEXT]


async def test_one_registration_per_session_is_active_and_the_newest_wins(world: World) -> None:
    session = await world.session()
    made = [await registered(world, session) for _ in range(3)]
    assert await world.store.transact(reminders.active, session.id) == made[-1]


async def test_registering_again_after_a_lost_answer_changes_nothing(world: World) -> None:
    session = await world.session()
    new = registration(session, world.now)
    await world.store.transact(reminders.register, new)
    await fire(world, 10)
    repeated = await world.store.transact(reminders.register, new)
    assert repeated.soft_fired


async def test_an_ended_session_is_not_reminded(world: World) -> None:
    session = await world.session()
    await world.store.transact(sessions.kill, session.id, world.later())
    with pytest.raises(SessionStopped):
        await registered(world, session)


@pytest.mark.parametrize(
    ("ending", "reason", "stays"),
    [
        (OK, None, False),
        # It had finished before the interruption came.
        (OK, StopReason.URGENT, False),
        (Ending(Outcome.ERROR, "no answer"), None, False),
        (Ending(Outcome.STOPPED), StopReason.PERSON, False),
        (Ending(Outcome.STOPPED), StopReason.URGENT, True),
        (Ending(Outcome.STOPPED), StopReason.CLEARED, True),
    ],
)
async def test_the_end_of_a_turn_ends_reminders_if_the_agent_has_come_to_rest(
    world: World, ending: Ending, reason: StopReason | None, stays: bool
) -> None:
    session = await world.session()
    begun = await world.begun(session)
    await registered(world, session)
    if reason is not None:
        await world.store.transact(lanes.request_stop, session.id, reason)
    await finish(world, begun, ending)
    assert (await world.store.transact(reminders.active, session.id) is not None) == stays


async def test_an_agent_whose_server_died_is_still_reminded(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)
    await registered(world, session)
    await world.store.transact(turns.extend, begun.turn, 0, [TextDelta("I")], world.later())
    dead = RunningTurn(begun.turn.id, session.id, begun.turn.fence, "me", world.now, None)
    await world.store.transact(turns.close_dead, dead, world.later())
    ends = [each.payload["error"] for each in world.published if each.type == "stream_end"]
    assert ends == [SERVER_STOPPED]
    assert await world.store.transact(reminders.active, session.id) is not None


async def test_a_message_starts_its_reminder_when_it_is_delivered(world: World) -> None:
    session = await world.session()
    await world.admit(session, remind_soft_threshold=10, remind_hard_threshold=20)
    assert await world.store.transact(reminders.active, session.id) is None
    await world.begin(session)
    made = await world.store.transact(reminders.active, session.id)
    assert made is not None
    assert (made.soft_threshold_seconds, made.hard_threshold_seconds) == (10, 20)
    assert made.registered_at == made.last_reset_at == world.now


async def given_back(world: World, begun: turns.TurnStart, why: str = SERVER_STOPPED) -> None:
    """Close the turn before its agent's first output."""
    turn = begun.turn
    dead = RunningTurn(turn.id, turn.session.id, turn.fence, "me", world.now, None)
    await world.store.transact(turns.close_dead, dead, world.later(), why)


@pytest.mark.parametrize("why", [SERVER_STOPPED, "the session is open in a terminal"])
async def test_after_a_restart_no_nudge_precedes_its_task(world: World, why: str) -> None:
    session = await world.session()
    await world.admit(session, "the task", remind_soft_threshold=10, remind_hard_threshold=20)
    begun = await world.begin(session)
    assert begun is not None
    # A nudge came due before the dead turn was noticed.
    await fire(world, 10)

    await given_back(world, begun, why)
    assert await waiting(world, session) == ["the task"]
    assert await world.store.transact(reminders.active, session.id) is None
    await fire(world, 100)
    assert await waiting(world, session) == ["the task"]

    await world.begin(session)
    again = await world.store.transact(reminders.active, session.id)
    assert again is not None
    assert again.last_reset_at == world.now
    await fire(world, 9.9)
    assert await waiting(world, session) == []
    await fire(world, 0.1)
    assert await waiting(world, session) == [SOFT_TEXT]


async def test_a_session_whose_task_waits_again_gets_a_full_period(world: World) -> None:
    """The reminders were requested separately from the task."""
    session = await world.session()
    begun = await world.begun(session)
    await registered(world, session)
    await fire(world, 10)

    await given_back(world, begun)

    assert await waiting(world, session) == ["hello"]
    reset = await world.store.transact(reminders.active, session.id)
    assert reset is not None
    assert (reset.last_reset_at, reset.soft_fired) == (world.now, False)


def once(session: Session, at: datetime, seconds: float = 5) -> Reminder:
    fires_at = at + timedelta(seconds=seconds)
    return Reminder(new_id(), session.id, "hello", fires_at, ReminderStatus.PENDING, at, at)


async def test_a_reminder_for_once_interrupts_and_says_which_turn(world: World) -> None:
    session = await world.session()
    begun = await world.begun(session)
    reminder = once(session, world.now)
    await world.store.transact(one_time_reminders.schedule, reminder)
    stops: list[tuple[str, str]] = []
    world.store.on_signal = lambda *signal: stops.append(signal)
    assert (await claim(world.store, REMINDERS, world.later(4))).count == 0
    assert (await claim(world.store, REMINDERS, world.later(1))).count == 1
    assert (signals.STOPS, begun.turn.id) in stops
    (running,) = await world.store.transact(lanes.running, [session.id])
    assert running.stop_reason is StopReason.URGENT
    (admitted,) = await world.store.transact(input_queue.list_inputs, session.id)
    assert (admitted.text, admitted.delivery_mode) == ("[sm remind] hello", DeliveryMode.URGENT)
    assert await earliest(world.store, REMINDERS) is None


async def test_a_reminder_for_once_comes_once_however_many_look(world: World) -> None:
    others = [Store(world.url) for _ in range(3)]
    for store in others:
        store.start()
    made = [await world.session() for _ in range(20)]
    for session in made:
        await world.store.transact(one_time_reminders.schedule, once(session, world.now))
        await registered(world, session)
    now = world.later(10)

    async def look(store: Store) -> None:
        # Until nothing is due: rows locked by another transaction are skipped.
        for kind in (REMINDERS, NUDGES):
            while (await earliest(store, kind) or now + timedelta(1)) <= now:
                await claim(store, kind, now, limit=3)

    await asyncio.gather(*(look(store) for store in [world.store, *others]))
    for session in made:
        assert await waiting(world, session) == ["[sm remind] hello", SOFT_TEXT]
    for store in others:
        await store.close()


async def test_killing_a_session_cancels_all_its_reminders(world: World) -> None:
    session = await world.session()
    reminder = once(session, world.now)
    await world.store.transact(one_time_reminders.schedule, reminder)
    await registered(world, session)
    await world.store.transact(sessions.kill, session.id, world.later())
    cancelled = await world.store.transact(one_time_reminders.find, reminder.id)
    assert cancelled is not None
    assert cancelled.status is ReminderStatus.CANCELLED
    assert await earliest(world.store, REMINDERS) is None
    assert await earliest(world.store, NUDGES) is None
