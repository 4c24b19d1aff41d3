"""Deadlines of questions that a person chose for a session or an automation."""

from __future__ import annotations

from datetime import timedelta

import pytest

from navi.base.errors import InvalidInput
from navi.live.model.access.caller import Caller
from navi.live.model.question import Decision, Question, QuestionAnswer, QuestionState
from navi.live.model.scheduling.automation_request import AutomationChange, AutomationRequest
from navi.live.model.session import Session
from tests.live_world import LOCAL, World

NEED = '[[need: terminal | {"command": "touch written.txt"}]] [[say: done]]'
HOUR, HALF_HOUR = timedelta(hours=1), timedelta(minutes=30)


async def open_questions(world: World, session: Session) -> list[Question]:
    async def look() -> list[Question]:
        return await world.navi.questions.list_questions(LOCAL, session.id, QuestionState.OPEN)

    return await world.until(look)


def wait_of(question: Question) -> timedelta | None:
    return None if question.deadline_at is None else question.deadline_at - question.created_at


async def add_automation(world: World, session: Session, message: str, minutes: int | None) -> str:
    request = AutomationRequest(
        name="daily", message=message, every_seconds=86_400, question_deadline_minutes=minutes
    )
    return (await world.navi.automations.add(LOCAL, session.id, request)).id


async def test_a_question_is_denied_at_the_deadline_of_its_session(world: World) -> None:
    session = await world.session(question_deadline_minutes=30)
    await world.say(session, NEED)
    (question,) = await open_questions(world, session)
    assert wait_of(question) == HALF_HOUR

    await world.forward(minutes=30, seconds=1)

    assert await world.outcomes(session, 1) == ["denied"]
    expired = await world.navi.questions.get(LOCAL, question.id)
    assert expired.state is QuestionState.EXPIRED
    assert "Nobody answered within 30 min" in ((expired.answer and expired.answer.text) or "")


async def test_a_session_with_the_deadline_zero_waits_forever(world: World) -> None:
    session = await world.session(question_deadline_minutes=0)
    await world.say(session, NEED)
    (question,) = await open_questions(world, session)
    assert question.deadline_at is None


async def test_a_changed_deadline_holds_for_the_next_turn(world: World) -> None:
    session = await world.session(question_deadline_minutes=0)
    for minutes, expected in ((60, HOUR), (None, timedelta(days=1))):
        changes = {"question_deadline_minutes": minutes}
        changed = await world.navi.sessions.change(LOCAL, session.id, changes)
        assert changed.question_deadline_minutes == minutes
        await world.say(session, NEED)
        (question,) = await open_questions(world, session)
        assert wait_of(question) == expected
        denial = QuestionAnswer(Decision.DENY, "no")
        await world.navi.questions.answer(Caller(LOCAL), question.id, denial, "sm")
    await world.ended(session, 2)


async def test_the_deadline_of_an_automation_goes_before_that_of_its_session(world: World) -> None:
    session = await world.session(question_deadline_minutes=60)
    await add_automation(world, session, NEED, 30)
    await world.forward(days=1, seconds=1)
    (question,) = await open_questions(world, session)
    assert wait_of(question) == HALF_HOUR

    # `ask_person` is called during the run, without saying for which turn.
    ask = world.navi.questions.ask_person
    assert wait_of(await ask(LOCAL, session.id, "Which?")) == HALF_HOUR
    short = timedelta(minutes=5)
    assert wait_of(await ask(LOCAL, session.id, "Quick?", deadline=short)) == short
    assert wait_of(await ask(LOCAL, session.id, "Later?", deadline=HOUR)) == HALF_HOUR


async def test_an_automation_without_a_deadline_uses_that_of_its_session(world: World) -> None:
    session = await world.session(question_deadline_minutes=60)
    id = await add_automation(world, session, NEED, 30)
    change = AutomationChange(question_deadline_minutes=None)
    changed = await world.navi.automations.change(LOCAL, id, change)
    assert changed.question_deadline_minutes is None

    await world.forward(days=1, seconds=1)

    (question,) = await open_questions(world, session)
    assert wait_of(question) == HOUR


async def test_the_answer_to_a_question_of_a_run_keeps_the_deadline_of_the_run(
    world: World,
) -> None:
    session = await world.session()
    await add_automation(world, session, f"[[ask: Which? | A | B]] {NEED}", 30)
    await world.forward(days=1, seconds=1)
    await world.ended(session)
    (question,) = await open_questions(world, session)
    assert wait_of(question) == HALF_HOUR

    choice = QuestionAnswer(Decision.CHOOSE, choices=("A",))
    await world.navi.questions.answer(Caller(LOCAL), question.id, choice, "sm")

    (next_question,) = await open_questions(world, session)
    assert next_question.kind == "permission"
    assert wait_of(next_question) == HALF_HOUR


async def test_an_agent_may_ask_for_a_shorter_deadline_outside_of_runs_too(world: World) -> None:
    session = await world.session(question_deadline_minutes=30)
    ask = world.navi.questions.ask_person
    assert wait_of(await ask(LOCAL, session.id, "Later?", deadline=HOUR)) == HALF_HOUR
    short = timedelta(minutes=5)
    assert wait_of(await ask(LOCAL, session.id, "Quick?", deadline=short)) == short


async def test_a_child_inherits_its_parents_deadline_unless_it_has_its_own(world: World) -> None:
    parent = await world.session(question_deadline_minutes=0)
    child = await world.session(parent_id=parent.id)
    own = await world.session(parent_id=parent.id, question_deadline_minutes=5)
    assert (child.question_deadline_minutes, own.question_deadline_minutes) == (0, 5)


async def test_an_impossible_deadline_makes_no_session_and_no_automation(world: World) -> None:
    with pytest.raises(InvalidInput, match="question_deadline_minutes"):
        await world.session(question_deadline_minutes=-1)
    session = await world.session()
    with pytest.raises(InvalidInput, match="question_deadline_minutes"):
        await add_automation(world, session, NEED, 10**9)
    assert await world.navi.automations.list_automations(LOCAL, session.id) == []
