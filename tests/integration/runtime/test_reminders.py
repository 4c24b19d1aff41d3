"""Agents that say nothing are asked, then interrupted. The clock is the test's own.

The first tests are named in the original design of reminders; those about the command line are in
tests/acceptance/contract/test_sm_supervision.py.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from navi.base.errors import InvalidInput, NotAllowed
from navi.live.agents.builtin.model_context import ModelContext, model_messages
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import Role, User
from navi.live.model.input import Admission, DeliveryMode
from navi.live.model.scheduling.reminder import (
    RESUME_TEXT,
    SOFT_TEXT,
    NoRegistration,
    ReminderNotFound,
)
from navi.live.model.session import Session
from navi.live.runtime.app import running
from navi.live.runtime.settings import AgentSettings, RemindSettings, Settings
from navi.live.store import events, terminals
from tests.hand_clock import HandClock
from tests.hook_reports import hook_report
from tests.live_world import LOCAL, LONG, NOW
from tests.live_world import World as LiveWorld

SOFT, HARD = ("important", SOFT_TEXT), ("urgent", RESUME_TEXT)


class World(LiveWorld):
    async def send(self, session: Session, text: str = LONG, **fields: Any) -> Admission:
        return await self.navi.messages.send(LOCAL, session.id, text, **fields)

    async def working(self, remind: int = 10) -> Session:
        """A session with a long task and periodic reminders."""
        session = await self.session()
        await self.send(session, remind_soft_threshold=remind)
        await self.started(session)
        return session

    async def nudges(self, session: Session) -> list[tuple[str, str]]:
        """Every nudge ever admitted."""
        happened = await self.navi.store.transact(events.read_session, session.id, 0, 10_000)
        inputs = [each.payload["input"] for each in happened if each.type == "input_queued"]
        return [(e["delivery_mode"], e["text"]) for e in inputs if e["origin"] == "reminder"]

    async def waiting(self, session: Session) -> list[str]:
        return [each.text for each in await self.navi.sessions.queue(LOCAL, session.id)]

    async def is_reminded(self, session: Session) -> bool:
        try:
            await self.navi.reminders.registration(LOCAL, session.id)
        except NoRegistration:
            return False
        return True

    async def hook(self, session: Session, event: str, at: datetime | None = None) -> None:
        """Report an event from a hook of the session's agent."""
        moment = at or self.clock.moment
        await self.navi.store.transact(terminals.remember, session, session.name, moment)
        news = hook_report(event, session.name, moment, cwd=session.cwd)
        await self.navi.terminals.report(Caller(LOCAL), news)


StartTimed = Callable[..., AbstractAsyncContextManager[World]]


@pytest.fixture
def start_timed(database_url: str, tmp_path: Path) -> StartTimed:
    clock = HandClock(NOW)

    @asynccontextmanager
    async def starting(**remind: Any) -> AsyncIterator[World]:
        settings = Settings(remind=RemindSettings(**{"hard_gap_seconds": 10, **remind}))
        async with running(settings, database_url, "token", clock=clock) as navi:
            yield World(navi, tmp_path, clock)

    return starting


@pytest.fixture
async def world(start_timed: StartTimed) -> AsyncIterator[World]:
    async with start_timed() as world:
        yield world


# The plan.


async def test_the_timer_starts_when_the_message_is_delivered(world: World) -> None:
    session = await world.session()
    await world.send(session)
    await world.started(session)
    await world.send(session, remind_soft_threshold=10)
    await world.forward(60)
    assert await world.nudges(session) == []

    await world.navi.sessions.stop(LOCAL, session.id)
    await world.started(session, 2)
    await world.forward(9)
    assert await world.nudges(session) == []
    await world.forward(1)
    assert await world.nudges(session) == [SOFT]


async def test_an_idle_session_starts_the_timer_at_once(world: World) -> None:
    session = await world.session()
    assert (await world.send(session, remind_soft_threshold=10)).delivered
    await world.forward(9)
    assert await world.nudges(session) == []
    await world.forward(1)
    assert await world.nudges(session) == [SOFT]


async def test_a_silent_agent_is_nudged_softly_then_interrupted(world: World) -> None:
    session = await world.working()

    await world.forward(10)
    assert await world.waiting(session) == [SOFT_TEXT]
    assert (await world.navi.sessions.get(LOCAL, session.id)).state == "running"
    await world.forward(10)

    frames = await world.ended(session, 2)
    assert await world.nudges(session) == [SOFT, HARD]
    assert [f["outcome"] for f in frames if f["type"] == "stream_end"] == ["stopped", "ok"]
    assert [f["origin"] for f in frames if f["type"] == "stream_start"] == ["user", "reminder"]
    # The hard nudge replaced the soft one, and says what to do afterwards.
    contents = [m.content for m in await world.messages(session) if m.source == "reminder"]
    assert contents[0] == RESUME_TEXT
    assert await world.waiting(session) == []


async def test_a_report_restarts_the_timer(world: World) -> None:
    session = await world.working()
    await world.forward(5)
    await world.navi.messages.report(LOCAL, session.id, "working on it")
    await world.forward(9)
    assert await world.nudges(session) == []
    await world.forward(1)
    assert await world.nudges(session) == [SOFT]


async def test_the_end_of_the_turn_ends_the_reminder(world: World) -> None:
    session = await world.session()
    await world.send(session, "[[say: done]]", remind_soft_threshold=10)
    await world.ended(session)
    assert not await world.is_reminded(session)
    await world.forward(1000)
    assert await world.nudges(session) == []


async def test_clearing_the_session_ends_the_reminder(world: World) -> None:
    session = await world.working()
    await world.navi.sessions.clear(LOCAL, session.id)
    await world.forward(1000)
    assert await world.nudges(session) == []


@pytest.mark.parametrize("end", ["kill", "remove"])
async def test_killing_the_session_ends_the_reminder(world: World, end: str) -> None:
    session = await world.working()
    await world.navi.reminders.schedule(LOCAL, session.id, 5, "once")
    await getattr(world.navi.sessions, end)(LOCAL, session.id)
    await world.forward(1000)
    assert await world.nudges(session) == []


async def test_a_stopped_reminder_never_comes(world: World) -> None:
    session = await world.working()
    await world.forward(5)
    await world.navi.reminders.stop(LOCAL, session.id)
    await world.forward(1000)
    assert await world.nudges(session) == []
    with pytest.raises(NoRegistration):
        await world.navi.reminders.stop(LOCAL, session.id)


async def test_a_new_reminder_replaces_the_old_one(world: World) -> None:
    session = await world.working(remind=10)
    await world.forward(5)
    await world.send(session, LONG, remind_soft_threshold=60, delivery_mode=DeliveryMode.URGENT)
    await world.started(session, 2)
    await world.forward(59)
    assert await world.nudges(session) == []
    await world.forward(1)
    assert await world.nudges(session) == [SOFT]


async def test_a_messages_threshold_overrides_the_settings(start_timed: StartTimed) -> None:
    async with start_timed(soft_threshold_seconds=180, hard_gap_seconds=120) as world:
        session = await world.working(remind=120)
        usual = await world.session()
        await world.send(usual, remind=True)
        await world.forward(119)
        assert await world.nudges(session) == []
        await world.forward(1)
        assert await world.nudges(session) == [SOFT]
        await world.forward(119)
        assert await world.nudges(session) == [SOFT]
        assert await world.nudges(usual) == [SOFT]
        await world.forward(1)
        assert await world.nudges(session) == [SOFT, HARD]
        await world.forward(60)
        assert await world.nudges(usual) == [SOFT, HARD]


async def test_a_reminder_survives_a_restart(start_timed: StartTimed) -> None:
    async with start_timed() as world:
        session = await world.session()
        await world.send(session, "[[say: begun]] [[sleep: 600]]", remind_soft_threshold=30)
        await world.frames_until(session, lambda frame: frame["type"] == "stream_delta")
        await world.forward(15)
    async with start_timed() as world:
        await world.forward(14)
        assert await world.nudges(session) == []
        await world.forward(1)
        assert await world.nudges(session) == [SOFT]


async def test_crash_recovery_queued_message_with_remind_intent(start_timed: StartTimed) -> None:
    async with start_timed() as world:
        session = await world.session()
        await world.send(session, "[[say: begun]] [[sleep: 600]]")
        await world.frames_until(session, lambda frame: frame["type"] == "stream_delta")
        await world.send(session, remind_soft_threshold=10)
        await world.forward(60)
    async with start_timed() as world:
        await world.started(session, 2)
        await world.forward(9)
        assert await world.nudges(session) == []
        await world.forward(1)
        assert await world.nudges(session) == [SOFT]


async def test_a_one_off_reminder_arrives_once(world: World) -> None:
    session = await world.session()
    await world.send(session)
    await world.started(session)
    made = await world.navi.reminders.schedule(LOCAL, session.id, 5, "hello")
    assert made.fires_at == world.clock.moment + timedelta(seconds=5)
    await world.forward(4)
    assert await world.nudges(session) == []
    await world.forward(1)
    frames = await world.ended(session, 2)
    assert await world.nudges(session) == [("urgent", "[sm remind] hello")]
    assert [f["outcome"] for f in frames if f["type"] == "stream_end"] == ["stopped", "ok"]
    await world.forward(1000)
    assert len(await world.nudges(session)) == 1


# What else must hold.


async def test_a_soft_nudge_reaches_a_working_agent_between_two_tool_calls(world: World) -> None:
    session = await world.session()
    script = "[[bash: until test -e go; do sleep 0.05; done]] [[bash: echo second]] [[say: done]]"
    await world.send(session, script, remind_soft_threshold=10)
    await world.frames_until(session, lambda frame: frame["type"] == "tool_started")
    await world.forward(10)
    assert await world.waiting(session) == [SOFT_TEXT]

    (world.folder / "go").touch()

    frames = await world.ended(session)
    # In the same turn, before the second call, and the task goes on.
    order = [f["type"] for f in frames if f["type"] in ("input_delivered", "tool_started")]
    assert order == ["input_delivered", "tool_started", "input_delivered", "tool_started"]
    task, nudge, *answers = await world.messages(session)
    assert (task.content, nudge.content) == (script, SOFT_TEXT)
    assert [call.arguments["command"] for each in answers for call in each.tool_calls][1:] == [
        "echo second"
    ]
    assert answers[-1].content == "done"
    assert await world.nudges(session) == [SOFT]
    assert await world.waiting(session) == []


@pytest.mark.parametrize(
    ("changes", "is_reached"),
    [
        ({}, True),
        # The hook has given up waiting, so any answer would be lost.
        ({"emitted_at": NOW + timedelta(seconds=8)}, False),
        ({"agent_id": "of a sub-agent"}, False),
        ({"event": "Stop"}, False),
        ({"driver": "codex"}, False),
    ],
)
async def test_a_hook_after_a_tool_is_answered_with_the_soft_nudge(
    world: World, changes: dict[str, Any], is_reached: bool
) -> None:
    session = await world.session()
    await world.send(session, "[[say: begun]] [[sleep: 600]]", remind_soft_threshold=10)
    await world.frames_until(session, lambda frame: frame["type"] == "stream_delta")
    await world.navi.store.transact(terminals.remember, session, "its-name", NOW)
    await world.forward(10)
    emitted_at = world.clock.moment
    report = {"event": "PostToolUse", "emitted_at": emitted_at, "tool_use_id": "call", **changes}

    news = hook_report(session_id="its-name", **report)
    reached = await world.navi.terminals.take_nudges(Caller(LOCAL), news)

    assert reached == ([SOFT_TEXT] if is_reached else [])
    assert await world.waiting(session) == ([] if is_reached else [SOFT_TEXT])


async def test_nobody_takes_the_nudges_of_another_user(world: World) -> None:
    session = await world.session()
    await world.navi.store.transact(terminals.remember, session, "its-name", NOW)
    stranger = Caller(User("stranger", Role.ADMIN, NOW))
    news = hook_report("PostToolUse", "its-name", NOW, tool_use_id="call")
    with pytest.raises(NotAllowed):
        await world.navi.terminals.take_nudges(stranger, news)


async def test_work_that_a_hard_nudge_interrupts_stays_in_the_agents_history(world: World) -> None:
    session = await world.session()
    script = "[[bash: echo the first result]] [[say: half way]] [[sleep: 600]]"
    await world.send(session, script, remind_soft_threshold=10)
    await world.frames_until(session, lambda frame: frame["type"] == "stream_delta")
    await world.forward(20)
    await world.ended(session, 2)

    messages = await world.messages(session)
    nudge = next(each for each in messages if each.source == "reminder")
    seen = model_messages(
        ModelContext(None, tuple(each for each in messages if each.idx < nudge.idx))
    )
    kinds = [[part.part_kind for part in each.parts] for each in seen]
    assert kinds == [["user-prompt"], ["tool-call"], ["tool-return"], ["text"]]
    assert "the first result" in str(seen[2].parts)
    assert "half way" in str(seen[3].parts)


async def test_undelivered_nudges_vanish_with_their_registration(world: World) -> None:
    session = await world.working()
    await world.forward(10)
    assert await world.waiting(session) == [SOFT_TEXT]
    await world.navi.reminders.stop(LOCAL, session.id)
    assert await world.waiting(session) == []


async def test_a_finished_agent_is_never_nudged(world: World) -> None:
    session = await world.working()
    await world.forward(10)
    await world.navi.sessions.stop(LOCAL, session.id)
    await world.ended(session)
    assert await world.waiting(session) == []
    assert [m.source for m in await world.messages(session)] == ["user", "user"]


async def test_a_report_answers_the_nudge_that_waits(world: World) -> None:
    session = await world.working()
    await world.forward(10)
    await world.navi.messages.report(LOCAL, session.id, "nearly there")
    assert await world.waiting(session) == []
    await world.forward(10)
    assert await world.waiting(session) == [SOFT_TEXT]


async def test_soft_never_interrupts_and_hard_does(world: World) -> None:
    session = await world.working()
    await world.forward(19)
    assert (await world.navi.sessions.get(LOCAL, session.id)).state == "running"
    assert await world.nudges(session) == [SOFT]
    await world.forward(1)
    assert (await world.outcomes(session, 1)) == ["stopped"]


async def test_taking_a_status_back_touches_no_timer(world: World) -> None:
    session = await world.working()
    await world.forward(5)
    taken_back = await world.navi.messages.report(LOCAL, session.id, None)
    assert (taken_back.agent_status_text, taken_back.agent_status_at) == (None, None)
    await world.forward(5)
    assert await world.nudges(session) == [SOFT]


async def test_the_end_of_a_cleared_turn_does_not_end_the_next_tasks_reminder(
    world: World,
) -> None:
    session = await world.working(remind=10)
    await world.send(session, remind_soft_threshold=20)
    await world.navi.sessions.clear(LOCAL, session.id)
    await world.started(session, 2)
    await world.forward(19)
    assert await world.nudges(session) == []
    await world.forward(1)
    assert await world.nudges(session) == [SOFT]


async def test_a_stop_that_was_emitted_before_the_task_does_not_end_its_reminder(
    world: World,
) -> None:
    session = await world.session()
    emitted_at = world.clock.moment
    await world.forward(2)
    await world.navi.reminders.register(LOCAL, session.id, 10)

    await world.hook(session, "Stop", emitted_at)
    assert await world.is_reminded(session)
    await world.hook(session, "Stop")
    assert not await world.is_reminded(session)


async def test_nothing_is_injected_during_compaction_and_a_full_period_follows(
    world: World,
) -> None:
    session = await world.working(remind=10)
    # Long, because the end of its turn would also end the timer.
    await world.navi.reminders.schedule(LOCAL, session.id, 5, LONG)
    await world.hook(session, "PreCompact")
    await world.forward(100)
    assert await world.nudges(session) == []

    await world.hook(session, "PostToolUse")
    await world.forward(9)
    # The one-off reminder is long overdue; the timer has restarted.
    assert await world.nudges(session) == [("urgent", f"[sm remind] {LONG}")]
    await world.forward(1)
    assert SOFT in await world.nudges(session)


async def test_a_compaction_whose_end_nobody_tells_holds_a_reminder_for_300_seconds(
    world: World,
) -> None:
    session = await world.working(remind=10)
    await world.navi.reminders.schedule(LOCAL, session.id, 5, "once")
    await world.hook(session, "PreCompact")
    await world.forward(299)
    assert await world.nudges(session) == []
    await world.forward(1)
    assert await world.nudges(session) == [("urgent", "[sm remind] once")]


async def test_the_built_in_agent_gets_a_full_period_after_it_has_compacted_its_history(
    database_url: str, tmp_path: Path
) -> None:
    clock = HandClock(NOW)
    settings = Settings(agent=AgentSettings(history_tokens=1000))
    async with running(settings, database_url, "token", clock=clock) as navi:
        world = World(navi, tmp_path, clock)
        session = await world.session()
        await world.say(session, "[[say: " + "word " * 2000 + "]]")
        await world.ended(session)
        await world.navi.reminders.register(LOCAL, session.id, 10)
        await world.forward(9)
        await world.say(session, LONG)
        await world.frames_until(session, lambda frame: frame["type"] == "history_compacted")
        registered = await world.navi.reminders.registration(LOCAL, session.id)
        assert registered.last_reset_at == clock.moment
        # Nothing is held back any more.
        await world.navi.reminders.schedule(LOCAL, session.id, 1, "once")
        await world.forward(1)
        assert await world.nudges(session) == [("urgent", "[sm remind] once")]


async def test_the_reminder_of_an_interrupted_task_goes_on(world: World) -> None:
    session = await world.working(remind=10)
    await world.send(session, LONG, delivery_mode=DeliveryMode.URGENT)
    await world.started(session, 2)
    await world.forward(10)
    assert await world.nudges(session) == [SOFT]


async def test_a_cancelled_reminder_does_not_come(world: World) -> None:
    session = await world.session()
    made = await world.navi.reminders.schedule(LOCAL, session.id, 5, "hello")
    await world.navi.reminders.cancel(LOCAL, made.id)
    await world.forward(10)
    assert await world.nudges(session) == []
    for unknown in (made.id, "nobody"):
        with pytest.raises(ReminderNotFound):
            await world.navi.reminders.cancel(LOCAL, unknown)


@pytest.mark.parametrize(
    ("soft", "hard"), [(0, None), (-5, None), (10, 10), (10, 5), (10**9, None), (10, 0)]
)
async def test_thresholds_that_make_no_sense_are_refused(
    world: World, soft: int, hard: int | None
) -> None:
    session = await world.session()
    with pytest.raises(InvalidInput) as refusal:
        await world.navi.reminders.register(LOCAL, session.id, soft, hard)
    assert refusal.value.hint
    assert not await world.is_reminded(session)


@pytest.mark.parametrize("delay", [0, -1, 10**9, float("nan")])
async def test_a_delay_that_makes_no_sense_is_refused(world: World, delay: float) -> None:
    session = await world.session()
    with pytest.raises(InvalidInput):
        await world.navi.reminders.schedule(LOCAL, session.id, delay, "hello")


async def test_a_stranger_can_neither_clear_nor_kill_but_the_parent_can(world: World) -> None:
    parent, stranger = await world.session(), await world.session()
    child = await world.session(parent_id=parent.id)
    grandchild = await world.session(parent_id=child.id)
    for requester in (stranger.id, child.id, grandchild.id):
        for act in ("clear", "kill", "remove"):
            with pytest.raises(NotAllowed):
                await getattr(world.navi.sessions, act)(LOCAL, child.id, requester)
    assert (await world.navi.sessions.get(LOCAL, child.id)).state == "idle"
    await world.navi.sessions.clear(LOCAL, child.id, parent.id)
    killed = await world.navi.sessions.kill(LOCAL, child.id, parent.id)
    assert killed.state == "stopped"
    # A person may do anything.
    assert (await world.navi.sessions.kill(LOCAL, grandchild.id)).state == "stopped"
