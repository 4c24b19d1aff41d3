"""A turn that repeats one call without progress ends, and a person is asked once."""

from __future__ import annotations

from navi.live.model.access.caller import Caller
from navi.live.model.question import Decision, Question, QuestionAnswer, QuestionState
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.session import Session, SessionState
from tests.live_world import LOCAL, Start, World

PERSON = Caller(LOCAL)
READS = '[[tool: filesystem | {"action": "read", "path": "missing.txt"}]]'
CIRCLES = READS * 5 + "[[say: never said]]"


async def asked(world: World, session: Session) -> list[Question]:
    return await world.navi.questions.list_questions(LOCAL, session.id)


async def answer(world: World, session: Session, reply: QuestionAnswer) -> None:
    [question] = [each for each in await asked(world, session) if each.is_open]
    await world.navi.questions.answer(PERSON, question.id, reply, "sm")


def chosen(label: str) -> QuestionAnswer:
    return QuestionAnswer(Decision.CHOOSE, choices=(label,))


async def current(world: World, session: Session) -> Session:
    return await world.navi.sessions.get(LOCAL, session.id)


async def test_the_turn_ends_at_the_last_repetition_and_the_session_asks(start: Start) -> None:
    async with start(budgets={"repeated_calls": 3}) as world:
        session = await world.session()
        await world.say(session, CIRCLES)
        frames = await world.ended(session)

        assert [frame["type"] for frame in frames].count("tool_call") == 3
        [end] = [frame for frame in frames if frame["type"] == "stream_end"]
        assert end["outcome"] == "max_iterations"
        assert "filesystem 3 times in a row" in end["error"]
        [question] = await asked(world, session)
        assert (question.kind, question.deadline_at) == ("choice", None)
        waiting = await current(world, session)
        assert (waiting.state, waiting.waiting_for) == (SessionState.WAITING, question.id)


async def test_continue_goes_on_and_lets_the_same_call_repeat(start: Start) -> None:
    async with start(budgets={"repeated_calls": 3}) as world:
        session = await world.session()
        await world.say(session, CIRCLES)
        await world.ended(session)
        await answer(world, session, chosen("continue"))
        outcomes = await world.outcomes(session, 2)

        assert outcomes == ["max_iterations", "ok"]
        assert len(await asked(world, session)) == 1
        assert (await current(world, session)).state is SessionState.IDLE


async def test_stop_starts_no_turn(start: Start) -> None:
    async with start(budgets={"repeated_calls": 3}) as world:
        session = await world.session()
        await world.say(session, CIRCLES)
        await world.ended(session)
        await answer(world, session, chosen("stop"))
        await world.at_rest()

        assert (await current(world, session)).state is SessionState.IDLE
        assert await world.navi.sessions.queue(LOCAL, session.id) == []
        assert [each.state for each in await asked(world, session)] == [QuestionState.ANSWERED]


async def test_a_message_is_the_next_input_and_a_new_loop_asks_again(start: Start) -> None:
    async with start(budgets={"repeated_calls": 3}) as world:
        session = await world.session()
        await world.say(session, CIRCLES)
        await world.ended(session)
        await answer(world, session, QuestionAnswer(Decision.REPLY, "[[say: thanks]]"))
        assert await world.outcomes(session, 2) == ["max_iterations", "ok"]
        await world.say(session, CIRCLES)
        await world.ended(session, 3)
        assert len([each for each in await asked(world, session) if each.is_open]) == 1


async def test_a_run_that_was_cut_off_is_not_ok(start: Start) -> None:
    async with start(budgets={"repeated_calls": 3}) as world:
        session = await world.session()
        request = AutomationRequest(name="nightly", message=CIRCLES, every_seconds=60)
        automation = await world.navi.automations.add(LOCAL, session.id, request)
        await world.forward(seconds=60)
        await world.ended(session)

        [run] = await world.navi.automations.list_runs(LOCAL, automation.id)
        assert run.outcome == "max_iterations"
        assert "3 times in a row" in (run.error or "")
        after = await world.navi.automations.get(LOCAL, automation.id)
        assert after.last_status != "ok"


async def test_no_limit_leaves_the_agent_alone(start: Start) -> None:
    async with start(budgets={"repeated_calls": 0}) as world:
        session = await world.session()
        await world.say(session, CIRCLES)
        assert await world.outcomes(session, 1) == ["ok"]
        assert await asked(world, session) == []
