"""Soft nudges delivered into a running turn."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from navi.base.ids import new_id
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import Role, User
from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import Origin
from navi.live.model.message import Draft
from navi.live.model.scheduling.reminder import RESUME_TEXT, SOFT_TEXT, Registration
from navi.live.model.session import Session
from navi.live.model.turn import Ending, Outcome, RunningTurn, StopReason
from navi.live.store import input_queue, lanes, sessions, steering, terminals, transcript, turns
from navi.live.store.due.due_nudges import DueNudges
from navi.live.store.scheduling import compactions, reminders
from tests.hook_reports import hook_report
from tests.store_world import World, claim

CALL = "call-1"


@dataclass
class Work:
    """A session whose agent is in the middle of a turn, with a soft nudge waiting for it."""

    world: World
    session: Session
    begun: turns.TurnStart

    async def take(self, delivery_id: str = "first") -> list[str]:
        fence, now = self.begun.turn.fence, self.world.later()
        return await self.world.store.transact(
            steering.take, self.session.id, delivery_id, CALL, now, fence=fence
        )

    async def waiting(self) -> list[str]:
        waiting = await self.world.store.transact(input_queue.list_inputs, self.session.id)
        return [each.text for each in waiting]

    async def transcript(self) -> list[tuple[int, str]]:
        messages = await self.world.store.transact(transcript.read, self.session.id)
        return [(each.idx, each.content) for each in messages]

    async def finish(self) -> None:
        await self.world.store.transact(
            turns.finish,
            self.begun.turn,
            1,
            [],
            [Draft(content="done")],
            Ending(Outcome.OK),
            Usage(),
            self.world.later(),
        )

    @property
    def dead(self) -> RunningTurn:
        turn = self.begun.turn
        return RunningTurn(turn.id, self.session.id, turn.fence, "me", self.world.now, None)


async def nudged(world: World, session: Session) -> None:
    """Registered, and silent for longer than the soft threshold."""
    now = world.now
    new = Registration(new_id(), session.id, 10, 600, registered_at=now, last_reset_at=now)
    await world.store.transact(reminders.register, new)
    await claim(world.store, DueNudges(), world.later(10))


@pytest.fixture
async def work(world: World) -> Work:
    session = await world.session()
    begun = await world.begun(session, "the task")
    await world.store.transact(turns.extend, begun.turn, 0, [TextDelta("I")], world.later())
    await nudged(world, session)
    return Work(world, session, begun)


async def test_a_soft_nudge_is_delivered_into_the_running_turn(work: Work) -> None:
    assert await work.waiting() == [SOFT_TEXT]

    assert await work.take() == [SOFT_TEXT]

    assert await work.waiting() == []
    *_, nudge = await work.world.store.transact(transcript.read, work.session.id)
    delivered = work.world.published[-1]
    assert (delivered.type, delivered.turn_id) == ("input_delivered", work.begun.turn.id)
    assert delivered.payload["input"]["id"] == nudge.id
    assert nudge.source == Origin.REMINDER
    assert nudge.metadata["tool_call_id"] == CALL


async def test_it_is_not_delivered_again_when_the_turn_has_ended(work: Work) -> None:
    await work.take()
    await work.finish()
    assert await work.world.begin(work.session) is None
    assert await work.transcript() == [(0, "the task"), (1, SOFT_TEXT), (2, "done")]


async def test_a_delivery_that_is_run_again_gives_the_same(work: Work) -> None:
    """The answer to the first commit was lost."""
    assert await work.take() == [SOFT_TEXT]
    assert await work.take() == [SOFT_TEXT]
    assert await work.transcript() == [(0, "the task"), (1, SOFT_TEXT)]


async def test_a_later_call_gets_nothing_that_an_earlier_one_got(work: Work) -> None:
    """Not even if the model gives all its calls the same id."""
    await work.take()
    assert await work.take("second") == []


async def test_a_turn_that_dies_after_a_nudge_keeps_its_cause_and_the_nudge(work: Work) -> None:
    await work.take()
    await work.world.store.transact(turns.close_dead, work.dead, work.world.later())
    assert await work.waiting() == []
    assert [text for _, text in await work.transcript()][:2] == ["the task", SOFT_TEXT]


async def test_a_turn_that_is_taken_over_after_a_nudge_is_still_about_its_task(work: Work) -> None:
    await work.take()
    now = work.world.later()
    claim = turns.Claim(work.begun.turn.id, "another", now, now)
    begun = await work.world.store.transact(turns.take_over, work.dead, claim)
    assert begun is not None
    assert [each.text for each in begun.turn.inputs] == ["the task"]
    # The old process does not know yet that it was taken over.
    assert await work.take("second") == []


async def test_nothing_is_delivered_into_a_turn_that_may_be_given_back(world: World) -> None:
    session = await world.session()
    work = Work(world, session, await world.begun(session, "the task"))
    await nudged(world, session)
    assert await work.take() == []
    await world.store.transact(turns.close_dead, work.dead, world.later())
    assert await work.waiting() == ["the task"]


async def test_nothing_is_delivered_into_a_turn_that_was_asked_to_stop(work: Work) -> None:
    await work.world.store.transact(lanes.request_stop, work.session.id, StopReason.PERSON)
    assert await work.take() == []
    assert await work.waiting() == [SOFT_TEXT]


async def test_nothing_is_delivered_to_an_agent_that_summarises_its_history(work: Work) -> None:
    await work.world.store.transact(compactions.begin, work.session.id, work.world.later())
    assert await work.take() == []
    assert await work.waiting() == [SOFT_TEXT]


async def test_a_hard_nudge_and_a_message_are_left_for_the_end_of_the_turn(work: Work) -> None:
    await work.world.admit(work.session, "from a person")
    await claim(work.world.store, DueNudges(), work.world.later(600))
    assert await work.take() == []
    assert await work.waiting() == [RESUME_TEXT, "from a person"]


async def test_a_person_at_work_in_a_terminal_is_reached_without_a_turn(world: World) -> None:
    session = await world.session(driver="claude_code")
    await world.store.transact(terminals.remember, session, "its-name", world.now)
    person = Caller(User("local", Role.ADMIN, world.now))
    news = hook_report("PostToolUse", "its-name", world.later())
    await world.store.transact(terminals.report, person, news, session, world.now)
    await nudged(world, session)

    for _ in range(2):
        taken = await world.store.transact(steering.take, session.id, "first", CALL, world.later())
        assert taken == [SOFT_TEXT]

    assert await world.store.transact(input_queue.list_inputs, session.id) == []
    [nudge] = await world.store.transact(transcript.read, session.id)
    assert nudge.content == SOFT_TEXT
    await world.store.transact(sessions.remove, session.id, world.later())


async def test_an_idle_session_that_is_open_nowhere_keeps_its_nudge(world: World) -> None:
    session = await world.session()
    await nudged(world, session)
    assert await world.store.transact(steering.take, session.id, "first", CALL, world.later()) == []
    assert len(await world.store.transact(input_queue.list_inputs, session.id)) == 1
