"""What waits for a person, gathered from a running Navi, and put away."""

from __future__ import annotations

import pytest

from navi.base.errors import InvalidInput, NotAllowed
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.inbox import InboxItem, InboxItemNotFound, MustBeAnswered
from navi.live.model.question import Decision, QuestionAnswer
from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
from navi.live.model.session import Session
from tests.live_world import ADA, LOCAL, World

ASK = "[[ask: Which database? | SQLite | PostgreSQL]]"
PERSON = Caller(LOCAL)


async def items(world: World, user: User = LOCAL, *, with_snoozed: bool = False) -> list[InboxItem]:
    return await world.navi.inbox.items(user, with_snoozed=with_snoozed)


async def ids(world: World, user: User = LOCAL) -> list[str]:
    return [item.id for item in await items(world, user)]


async def after(world: World, text: str) -> Session:
    """A session whose agent has done that."""
    session = await world.session()
    await world.say(session, text)
    await world.ended(session)
    return session


async def switched_off(world: World) -> tuple[Session, str]:
    """A session, and the id of its automation, which has failed too often."""
    session = await world.session()
    request = AutomationRequest(
        name="error log", message="[[fail: no such file]]", every_seconds=60, max_failures=1
    )
    automation = await world.navi.automations.add(LOCAL, session.id, request)
    await world.forward(seconds=61)
    await world.ended(session)
    return session, automation.id


async def test_questions_failures_and_finished_work_wait_for_a_person(world: World) -> None:
    finished = await after(world, "[[say: done]]")
    failed = await after(world, "[[fail: out of paper]]")
    asking = await after(world, ASK)

    question, failure, finish = await items(world)

    assert question.question is not None
    assert question.id == f"question-{question.question.id}"
    assert (question.session_id, question.title) == (asking.id, "Which database?")
    assert question.then == "continues without an answer tomorrow at 12:00"
    assert (failure.id, failure.title) == (f"failure-{failed.id}", "[[fail: out of paper]]")
    assert "out of paper" in failure.reason
    assert finish.id == f"finished-{finished.id}"


async def test_what_was_answered_read_or_settled_no_longer_waits(world: World) -> None:
    await after(world, ASK)
    read = await after(world, "[[say: done]]")
    settled = await after(world, "[[fail: out of paper]]")
    (waiting, *_) = await items(world)
    assert waiting.question is not None

    await world.navi.sessions.change(LOCAL, read.id, {"unread": False})
    assert (await world.navi.inbox.settle(PERSON, f"failure-{settled.id}")).kind == "failure"
    assert await ids(world) == [waiting.id]
    with pytest.raises(InboxItemNotFound):
        await world.navi.inbox.settle(PERSON, f"failure-{settled.id}")

    answer = QuestionAnswer(Decision.CHOOSE, choices=("SQLite",))
    await world.navi.questions.answer(PERSON, waiting.question.id, answer, "sm")
    assert waiting.id not in await ids(world)


async def test_a_question_can_only_be_answered(world: World) -> None:
    await after(world, ASK)
    (item,) = await items(world)
    with pytest.raises(MustBeAnswered) as refusal:
        await world.navi.inbox.settle(PERSON, item.id)
    assert item.question is not None
    assert refusal.value.hint == f"POST /questions/{item.question.id}/answer answers it"
    assert await items(world) == [item]


async def test_a_snoozed_item_comes_back_by_itself(world: World) -> None:
    session = await after(world, "[[fail: out of paper]]")
    item_id = f"failure-{session.id}"

    hidden = await world.navi.inbox.snooze(PERSON, item_id, "1h")

    assert await ids(world) == []
    assert await items(world, with_snoozed=True) == [hidden]
    await world.forward(minutes=59)
    assert await ids(world) == []
    await world.forward(minutes=1)
    assert await ids(world) == [item_id]
    # It can be snoozed again, and an earlier time replaces a later one.
    await world.navi.inbox.snooze(PERSON, item_id, "2h")
    await world.navi.inbox.snooze(PERSON, item_id, "1m")
    await world.forward(minutes=1)
    assert await ids(world) == [item_id]


async def test_a_snoozed_failure_that_happens_again_is_shown(world: World) -> None:
    session = await after(world, "[[fail: out of paper]]")
    await world.navi.inbox.snooze(PERSON, f"failure-{session.id}", "1d")
    await world.forward(seconds=1)
    await world.say(session, "[[fail: out of ink]]")
    await world.ended(session, 2)
    (item,) = await items(world)
    assert "out of ink" in item.reason


async def test_an_automation_that_was_switched_off_waits_until_somebody_settles_it(
    world: World,
) -> None:
    session, automation_id = await switched_off(world)
    failure, disabled = await items(world)
    assert failure.id == f"failure-{session.id}"
    assert (disabled.id, disabled.title) == (f"disabled-{automation_id}", "error log")
    assert disabled.reason.startswith("switched off after a failure: ")

    await world.navi.inbox.settle(PERSON, disabled.id)
    assert await ids(world) == [failure.id]
    assert await items(world, with_snoozed=True) == [failure]

    await world.navi.automations.change(LOCAL, automation_id, AutomationChange(enabled=True))
    await world.forward(seconds=61)
    await world.ended(session, 2)
    assert disabled.id in await ids(world)


async def test_each_user_sees_and_puts_away_only_their_own(world: World) -> None:
    session = await after(world, "[[say: done]]")
    item_id = f"finished-{session.id}"
    assert await ids(world, ADA) == []
    for refused in (
        world.navi.inbox.settle(Caller(ADA), item_id),
        world.navi.inbox.snooze(Caller(ADA), item_id, "1h"),
    ):
        with pytest.raises(InboxItemNotFound):
            await refused
    assert await ids(world) == [item_id]


async def test_an_agent_can_put_nothing_away(world: World) -> None:
    session = await after(world, "[[say: done]]")
    agent, item_id = Caller(LOCAL, session.id), f"finished-{session.id}"
    for refused in (
        world.navi.inbox.settle(agent, item_id),
        world.navi.inbox.snooze(agent, item_id, "1h"),
    ):
        with pytest.raises(NotAllowed):
            await refused
    with pytest.raises(InvalidInput):
        await world.navi.inbox.snooze(PERSON, item_id, "soon")
    assert await ids(world) == [item_id]
