"""Agents that ask a person: questions are stored, answered once, and never forgotten."""

from __future__ import annotations

import asyncio

import pytest

from navi.base.errors import InvalidInput, NotAllowed
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import User
from navi.live.model.message import ToolCall
from navi.live.model.question import (
    Decision,
    Question,
    QuestionAnswer,
    QuestionClosed,
    QuestionState,
)
from navi.live.model.session import Session, SessionState
from navi.live.store import questions
from tests.live_world import ADA, LOCAL, Start, World

ALLOW, DENY = QuestionAnswer(Decision.ALLOW), QuestionAnswer(Decision.DENY, "not today")
NEED = '[[need: terminal | {"command": "echo ran >> ran.txt"}]] [[say: done with it]]'
ASK = "[[say: a moment]] [[ask: Which database? | SQLite | PostgreSQL]] [[say: good choice]]"


async def open_question(world: World, session: Session | None = None) -> Question:
    """The only open question, once there is one."""

    async def look() -> list[Question]:
        session_id = None if session is None else session.id
        return await world.navi.questions.list_questions(LOCAL, session_id, QuestionState.OPEN)

    (question,) = await world.until(look)
    return question


async def answer(
    world: World, question: Question, answer: QuestionAnswer, user: User = LOCAL
) -> Question:
    return await world.navi.questions.answer(Caller(user), question.id, answer, "sm")


async def state(world: World, session: Session) -> tuple[SessionState, str | None]:
    current = await world.navi.sessions.get(LOCAL, session.id)
    return current.state, current.waiting_for


async def calls(world: World, session: Session) -> list[ToolCall]:
    messages = await world.messages(session)
    return [call for message in messages for call in message.tool_calls]


def runs(world: World) -> int:
    """How often the command of `NEED` has run."""
    file = world.folder / "ran.txt"
    return len(file.read_text().splitlines()) if file.exists() else 0


async def test_a_tool_that_needs_permission_runs_once_a_person_allows_it(world: World) -> None:
    session = await world.session()
    await world.say(session, NEED)

    question = await open_question(world, session)

    assert (question.kind, question.tool_name, question.risk) == ("permission", "terminal", "high")
    assert question.tool_input == {"command": "echo ran >> ran.txt"}
    assert await state(world, session) == (SessionState.WAITING, question.id)
    assert runs(world) == 0

    answered = await answer(world, question, ALLOW)

    assert await world.outcomes(session, 1) == ["ok"]
    assert (answered.state, answered.answered_by, answered.answered_via) == (
        QuestionState.ANSWERED,
        LOCAL.id,
        "sm",
    )
    assert runs(world) == 1
    assert await state(world, session) == (SessionState.IDLE, None)


async def test_a_denied_tool_does_not_run_and_its_agent_reads_why(world: World) -> None:
    session = await world.session()
    await world.say(session, NEED)
    await answer(world, await open_question(world), DENY)

    assert await world.outcomes(session, 1) == ["denied"]
    (call,) = await calls(world, session)
    assert call.is_error
    assert call.result == "not today"
    assert runs(world) == 0


async def test_of_two_answers_the_first_counts_and_the_second_is_refused(world: World) -> None:
    session = await world.session()
    await world.say(session, NEED)
    question = await open_question(world)

    results = await asyncio.gather(
        *(
            world.navi.questions.answer(Caller(LOCAL), question.id, each, via)
            for each, via in ((ALLOW, "sm"), (DENY, "page"))
        ),
        return_exceptions=True,
    )

    refusals = [each for each in results if isinstance(each, QuestionClosed)]
    assert len(refusals) == 1
    assert "already answered by local, from" in refusals[0].message
    await world.ended(session)
    winner = await world.navi.questions.get(LOCAL, question.id)
    assert runs(world) == (1 if winner.answer == ALLOW else 0)


async def test_a_question_that_ends_the_turn_is_answered_by_the_next_input(world: World) -> None:
    session = await world.session()
    await world.say(session, ASK)
    assert await world.outcomes(session, 1) == ["ok"]
    question = await open_question(world)

    assert [option.label for option in question.options] == ["SQLite", "PostgreSQL"]
    assert await state(world, session) == (SessionState.WAITING, question.id)

    await answer(world, question, QuestionAnswer(Decision.CHOOSE, choices=("PostgreSQL",)))

    assert await world.outcomes(session, 2) == ["ok", "ok"]
    messages = await world.messages(session)
    assert [(each.source, each.content) for each in messages[-2:]] == [
        ("answer", '[answer to "Which database?"]\nPostgreSQL'),
        ("answer", "good choice"),
    ]
    assert await state(world, session) == (SessionState.IDLE, None)


async def test_a_question_that_ends_the_turn_is_asked_once_while_it_is_open(world: World) -> None:
    session = await world.session()
    ask = world.navi.questions.ask_person
    first = await ask(LOCAL, session.id, "Which?\nIt is urgent.", ["A", "B"])

    again = await ask(LOCAL, session.id, "Which?\nIt is urgent.", ["A", "B"])
    other = await ask(LOCAL, session.id, "Which?\nIt is urgent.", ["A", "C"])
    assert (again.id, other.id == first.id) == (first.id, False)

    await answer(world, first, QuestionAnswer(Decision.CHOOSE, choices=("A",)))
    assert (await ask(LOCAL, session.id, "Which?\nIt is urgent.", ["A", "B"])).id != first.id


async def test_all_open_questions_are_listed_however_many_there_are(world: World) -> None:
    session = await world.session()
    for number in range(5):
        question = await world.navi.questions.ask_person(LOCAL, session.id, f"Which {number}?")
        if number > 2:
            await answer(world, question, QuestionAnswer(Decision.REPLY, text="This."))
    for state_, count in ((QuestionState.OPEN, 3), (None, 4), (QuestionState.ANSWERED, 1)):
        listed = await world.navi.store.transact(
            questions.list_questions, user_id=LOCAL.id, state=state_, closed_limit=1
        )
        assert len(listed) == count


async def test_other_inputs_have_their_turns_while_a_question_is_open(world: World) -> None:
    session = await world.session()
    await world.say(session, ASK)
    await world.ended(session)
    question = await open_question(world)

    await world.say(session, "[[say: hello]]")

    assert await world.outcomes(session, 2) == ["ok", "ok"]
    assert await state(world, session) == (SessionState.WAITING, question.id)


async def test_a_waiting_turn_frees_its_slot(start: Start) -> None:
    async with start(max_concurrent=1, always_per_user=1) as world:
        asking, other = await world.session(), await world.session()
        await world.say(asking, NEED)
        question = await open_question(world)

        await world.say(other, "[[say: not held up]]")
        assert await world.outcomes(other, 1) == ["ok"]

        await world.say(other, "[[sleep: 600]]")
        await world.started(other, 2)
        # The only slot is taken, but an answered turn goes on at once.
        await answer(world, question, ALLOW)
        assert await world.outcomes(asking, 1) == ["ok"]


async def test_a_deadline_denies_with_a_message(world: World) -> None:
    session = await world.session()
    await world.say(session, NEED)
    question = await open_question(world)
    assert question.deadline_at is not None

    await world.forward(days=1, seconds=1)

    assert await world.outcomes(session, 1) == ["denied"]
    (call,) = await calls(world, session)
    assert "Nobody answered within 1 d" in (call.result or "")
    expired = await world.navi.questions.get(LOCAL, question.id)
    assert (expired.state, expired.answered_by, expired.answered_via) == (
        QuestionState.EXPIRED,
        None,
        "deadline",
    )
    with pytest.raises(QuestionClosed, match="closed by its deadline"):
        await answer(world, question, ALLOW)


async def test_an_agent_that_asked_is_told_that_nobody_answered(world: World) -> None:
    session = await world.session()
    await world.say(session, ASK)
    await world.ended(session)

    await world.forward(days=1, seconds=1)

    assert await world.outcomes(session, 2) == ["ok", "ok"]
    assert "Nobody answered" in (await world.messages(session))[-2].content


@pytest.mark.parametrize("ending", ["stop", "kill", "clear"])
async def test_the_end_of_the_turn_withdraws_its_question(world: World, ending: str) -> None:
    session = await world.session()
    await world.say(session, NEED)
    question = await open_question(world)

    await getattr(world.navi.sessions, ending)(LOCAL, session.id)

    assert await world.outcomes(session, 1) == ["stopped"]
    closed = await world.navi.questions.get(LOCAL, question.id)
    assert closed.state is QuestionState.WITHDRAWN
    assert (await state(world, session))[1] is None
    assert runs(world) == 0


async def test_questions_and_answers_outlive_the_server(start: Start) -> None:
    async with start() as world:
        session = await world.session()
        await world.say(session, ASK)
        await world.ended(session)
        question = await open_question(world)

    async with start() as world:
        assert await state(world, session) == (SessionState.WAITING, question.id)
        await answer(world, question, QuestionAnswer(Decision.REPLY, "neither: a file"))
        await world.ended(session, 2)
        assert (await world.messages(session))[-1].content == "good choice"


async def test_an_agent_cannot_answer(world: World) -> None:
    session = await world.session()
    await world.say(session, NEED)
    question = await open_question(world)

    with pytest.raises(NotAllowed):
        await world.navi.questions.answer(Caller(LOCAL, session.id), question.id, ALLOW, "sm")
    with pytest.raises(NotAllowed):
        await answer(world, question, ALLOW, ADA)


@pytest.mark.parametrize(
    ("impossible", "problem"),
    [
        (QuestionAnswer(Decision.CHOOSE, choices=("SQLite",)), "can't be answered with choose"),
        (QuestionAnswer(Decision.ALLOW, updated_input={"command": "ls"}), "can't be changed"),
        (QuestionAnswer(Decision.DENY, choices=("a",)), "choices can only be used"),
    ],
)
async def test_an_impossible_answer_leaves_the_question_open(
    world: World, impossible: QuestionAnswer, problem: str
) -> None:
    session = await world.session()
    await world.say(session, NEED)
    question = await open_question(world)

    with pytest.raises(InvalidInput, match=problem):
        await answer(world, question, impossible)

    assert (await open_question(world)).id == question.id


async def test_reminders_pause_while_a_person_is_asked(world: World) -> None:
    session = await world.session()
    await world.navi.messages.send(LOCAL, session.id, NEED, remind_soft_threshold=10)
    question = await open_question(world)
    await world.navi.reminders.schedule(LOCAL, session.id, 30, "[[say: reminded]]")

    for _ in range(10):
        await world.forward(seconds=30)

    assert await world.navi.sessions.queue(LOCAL, session.id) == []
    assert await state(world, session) == (SessionState.WAITING, question.id)
    await answer(world, question, ALLOW)
    # The answer makes the reminder due. The scheduler claims it even if its row was locked.
    await world.at_rest()
    await world.ended(session, 2)
    assert (await world.messages(session))[-1].content == "reminded"
