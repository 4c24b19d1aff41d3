"""Sessions, automations and days pause when their budget is used up, and continue when raised."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from navi.base.errors import InvalidInput, NotAllowed
from navi.live.agents.driver import Driver, DriverEvent, TurnRequest
from navi.live.model.access.caller import Caller
from navi.live.model.budget import Amount, Budget
from navi.live.model.event import TextDelta, Usage
from navi.live.model.input import Origin
from navi.live.model.question import Decision, Question, QuestionAnswer, QuestionState
from navi.live.model.scheduling.automation import RunState
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.session import Session, SessionState
from navi.live.runtime.services.budget_service import Owner
from navi.live.store import lanes
from tests.live_world import LOCAL, Start, World

PERSON = Caller(LOCAL)
DOLLAR = 100_000
"""So many tokens that `gpt-5` writes cost a dollar."""
TWO_DOLLARS = Amount(dollars=2.0)


@dataclass
class Metered(Driver):
    """An agent that uses a dollar's worth of tokens in each turn."""

    model: str | None = "gpt-5"
    prompts: list[tuple[str, str]] = field(default_factory=list)

    __hash__ = object.__hash__

    async def turn(self, request: TurnRequest) -> AsyncGenerator[DriverEvent, None]:
        self.prompts.append((request.session.id, request.prompt))
        yield TextDelta("done")
        yield Usage(output_tokens=DOLLAR, model=self.model)

    def of(self, session: Session) -> list[str]:
        return [prompt for session_id, prompt in self.prompts if session_id == session.id]


@pytest.fixture
def agent() -> Metered:
    return Metered()


async def budgeted(world: World, amount: Amount, per: str | None = None) -> Session:
    session = await world.session(driver="metered")
    await world.navi.budgets.set(PERSON, await owner(world, session), amount, per)
    return session


async def owner(world: World, session: Session) -> Owner:
    return await world.navi.budgets.of_session(LOCAL, session.id)


async def left(world: World, session: Session) -> Budget:
    return await world.navi.budgets.get(await owner(world, session))


async def work(world: World, session: Session, *texts: str) -> None:
    """Send these messages, and let everything run that can."""
    for text in texts:
        await world.say(session, text)
    await settled(world)


async def settled(world: World) -> None:
    """Return once nothing runs, and nothing could run."""
    await world.at_rest()

    async def nothing_can_run() -> bool:
        store, now = world.navi.store, world.clock.now()
        is_running = bool(await store.transact(lanes.running))
        return not is_running and not await store.transact(lanes.ready, now, 1)

    await world.until(nothing_can_run)


async def asked(world: World, state: QuestionState = QuestionState.OPEN) -> list[Question]:
    return await world.navi.questions.list_questions(LOCAL, state=state)


async def answer(world: World, text: str) -> Question:
    [question] = await asked(world)
    labels = [option.label for option in question.options]
    reply = (
        QuestionAnswer(Decision.CHOOSE, choices=(text,))
        if text in labels
        else QuestionAnswer(Decision.REPLY, text)
    )
    answered = await world.navi.questions.answer(PERSON, question.id, reply, "sm")
    await settled(world)
    return answered


async def current(world: World, session: Session) -> Session:
    return await world.navi.sessions.get(LOCAL, session.id)


async def test_a_session_pauses_before_the_turn_after_its_budget_and_asks_once(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, TWO_DOLLARS)
        await work(world, session, "one", "two", "three", "four")

        assert agent.of(session) == ["one", "two"]
        [question] = await asked(world)
        assert question.title == "The session's budget of 2 USD is used up (2 USD used)"
        assert [option.label for option in question.options] == ["raise by 2 USD", "stop"]
        assert question.deadline_at is None
        paused = await current(world, session)
        assert (paused.state, paused.waiting_for) == (SessionState.WAITING, question.id)
        assert paused.pause_reason == "the session's budget of 2 USD is used up (2 USD used)"
        queue = await world.navi.sessions.queue(LOCAL, session.id)
        assert [each.text for each in queue] == ["three", "four"]


async def test_the_answer_raises_the_budget_and_everything_continues_once(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, TWO_DOLLARS)
        await work(world, session, "one", "two", "three", "four")
        await answer(world, "raise by 2 USD")

        assert agent.of(session) == ["one", "two", "three", "four"]
        resumed = await current(world, session)
        assert (resumed.state, resumed.paused_by) == (SessionState.IDLE, None)
        budget = await left(world, session)
        assert (budget.limit, budget.used_dollars) == (Amount(dollars=4.0), 4.0)

        await work(world, session, "five")
        assert "5" not in agent.of(session)
        await answer(world, "0.5usd")
        assert agent.of(session)[-1] == "five"
        assert await asked(world) == []


async def test_a_raised_budget_continues_at_once_and_withdraws_the_question(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, Amount(dollars=1.0))
        await work(world, session, "one", "two")
        await world.navi.budgets.set(PERSON, await owner(world, session), Amount(dollars=5.0), None)
        await settled(world)

        assert agent.of(session) == ["one", "two"]
        assert [each.id for each in await asked(world, QuestionState.WITHDRAWN)] != []
        assert (await current(world, session)).state is SessionState.IDLE
        assert (await left(world, session)).used_dollars == 2.0


async def test_a_budget_set_too_low_to_continue_keeps_the_pause(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, Amount(dollars=2.0))
        await work(world, session, "one", "two", "three")
        low = Amount(dollars=1.5)
        await world.navi.budgets.set(PERSON, await owner(world, session), low, None)
        await settled(world)

        assert agent.of(session) == ["one", "two"]
        assert len(await asked(world)) == 1


async def test_stop_leaves_everything_waiting_and_asks_no_more(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, Amount(dollars=1.0))
        await work(world, session, "one", "two")
        await answer(world, "stop")
        await work(world, session, "three")

        assert agent.of(session) == ["one"]
        assert await asked(world) == []
        [item] = await world.navi.inbox.items(LOCAL)
        assert (item.kind, item.then) == ("budget", "waits until the budget is raised")
        await world.navi.budgets.remove(PERSON, await owner(world, session))
        await settled(world)
        assert agent.of(session) == ["one", "two", "three"]


async def test_an_answer_that_is_no_amount_is_refused_and_the_question_stays(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, Amount(dollars=1.0))
        await work(world, session, "one", "two")
        for text in ("a bit more", "200k tokens"):
            with pytest.raises(InvalidInput):
                await answer(world, text)
        assert len(await asked(world)) == 1


async def test_a_paused_session_is_still_paused_after_a_restart_and_continues_once(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, Amount(dollars=1.0))
        await work(world, session, "one", "two")
    async with start(drivers={"metered": agent}) as world:
        await settled(world)
        assert agent.of(session) == ["one"]
        await answer(world, "raise by 1 USD")
        assert agent.of(session) == ["one", "two"]
    async with start(drivers={"metered": agent}) as world:
        await settled(world)
        assert agent.of(session) == ["one", "two"]


async def test_a_person_who_writes_to_a_paused_session_is_told(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, Amount(dollars=1.0))
        first = await world.say(session, "one")
        await settled(world)
        second = await world.say(session, "two")

        assert first.pause is None
        assert second.pause is not None
        assert second.pause.reason == "the session's budget of 1 USD is used up (1 USD used)"
        assert second.pause.until is None


async def test_a_daily_budget_continues_the_next_day_in_the_persons_time_zone(
    start: Start, agent: Metered
) -> None:
    zone = {"timezone": "Asia/Tokyo"}
    async with start(drivers={"metered": agent}, recalls=zone) as world:
        session = await budgeted(world, Amount(dollars=1.0), "day")
        await work(world, session, "one", "two")  # 21:00 in Tokyo
        paused = await current(world, session)
        assert paused.paused_until is not None
        assert paused.paused_until.isoformat() == "2026-11-16T15:00:00+00:00"

        await world.forward(hours=2, minutes=59)
        assert agent.of(session) == ["one"]
        await world.forward(minutes=1)
        await settled(world)
        assert agent.of(session) == ["one", "two"]
        assert await asked(world) == []
        assert (await left(world, session)).used_dollars == 1.0


async def test_a_day_for_all_sessions_asks_once_and_releases_them_all(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        sessions = [await world.session(driver="metered") for _ in range(3)]
        await work(world, sessions[0], "before")
        day = world.navi.budgets.of_day(LOCAL)
        budget = await world.navi.budgets.set(PERSON, day, Amount(dollars=1.0), None)
        assert budget.used_dollars == 1.0  # what was used before it was set
        for session in sessions:
            await work(world, session, "go")

        assert agent.prompts == [(sessions[0].id, "before")]
        assert len(await asked(world)) == 1
        assert all([(await current(world, each)).paused_by for each in sessions])
        await answer(world, "3usd")
        assert [agent.of(each)[-1] for each in sessions] == ["go"] * 3
        assert not any([(await current(world, each)).paused_by for each in sessions])


async def test_the_day_in_the_settings_counts_for_every_session(
    start: Start, agent: Metered
) -> None:
    settings = {"tokens_per_day": DOLLAR}
    async with start(drivers={"metered": agent}, budgets=settings) as world:
        one, two = await world.session(driver="metered"), await world.session(driver="metered")
        await work(world, one, "one")
        await work(world, two, "two")
        assert agent.prompts == [(one.id, "one")]
        await answer(world, "100k tokens")
        assert agent.of(two) == ["two"]


async def test_what_a_session_starts_counts_for_its_budget(start: Start, agent: Metered) -> None:
    async with start(drivers={"metered": agent}) as world:
        parent = await budgeted(world, TWO_DOLLARS)
        child = await world.session(driver="metered", parent_id=parent.id)
        grandchild = await world.session(driver="metered", parent_id=child.id)
        await work(world, child, "one")
        await work(world, grandchild, "two")
        await work(world, grandchild, "three")

        assert agent.of(grandchild) == ["two"]
        assert (await left(world, parent)).used_dollars == 2.0
        assert (await current(world, grandchild)).paused_by == f"session:{parent.id}"


async def test_a_price_that_is_unknown_is_said_and_never_invented(
    start: Start, agent: Metered
) -> None:
    agent.model = "secret-model-1"
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, TWO_DOLLARS)
        await work(world, session, "one", "two")

        assert agent.of(session) == ["one"]
        [question] = await asked(world)
        assert question.title == (
            "No price is known for the model secret-model-1, so dollars cannot be counted; "
            "set a token budget"
        )
        assert (await left(world, session)).used_dollars == 0.0
        await answer(world, "200k tokens")
        assert agent.of(session) == ["one", "two"]
        assert (await left(world, session)).limit == Amount(tokens=DOLLAR + 200_000)


async def test_dollars_are_refused_for_a_session_whose_model_has_no_price(world: World) -> None:
    session = await world.session()
    with pytest.raises(InvalidInput, match="no price is known for the model scripted"):
        await world.navi.budgets.set(PERSON, await owner(world, session), TWO_DOLLARS, None)


async def test_agents_can_not_set_budgets(world: World) -> None:
    session = await world.session()
    agent = Caller(LOCAL, session.id)
    with pytest.raises(NotAllowed):
        await world.navi.budgets.set(agent, await owner(world, session), TWO_DOLLARS, None)


async def test_an_automation_waits_for_its_budget_while_its_session_goes_on(
    start: Start, agent: Metered
) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await world.session(driver="metered")
        request = AutomationRequest(name="hourly", message="check", every_seconds=3600)
        automation = await world.navi.automations.add(LOCAL, session.id, request)
        budget_owner = await world.navi.budgets.of_automation(LOCAL, automation.id)
        await world.navi.budgets.set(PERSON, budget_owner, Amount(dollars=1.0), None)
        for _ in range(4):
            await world.forward(hours=1)
            await settled(world)
        await work(world, session, "hello")

        assert [text for text in agent.of(session) if "check" in text] != []
        assert len(agent.of(session)) == 2
        assert agent.of(session)[-1] == "hello"
        newest, oldest = await world.navi.automations.list_runs(LOCAL, automation.id)
        assert oldest.state is RunState.TURN_COMPLETED
        assert (newest.state, newest.outcome) == (RunState.QUEUED, None)
        assert "budget of 1 USD is used up" in (newest.error or "")
        await answer(world, "raise by 1 USD")
        newest, _ = await world.navi.automations.list_runs(LOCAL, automation.id)
        assert (newest.state, newest.error) == (RunState.TURN_COMPLETED, None)


async def test_a_recall_waits_for_the_budget_and_is_not_lost(start: Start, agent: Metered) -> None:
    async with start(drivers={"metered": agent}) as world:
        session = await budgeted(world, Amount(dollars=1.0))
        await work(world, session, "one")
        await world.say(session, "wake up", origin=Origin.AGENT)
        await settled(world)
        await world.forward(seconds=timedelta(days=2).total_seconds())
        assert agent.of(session) == ["one"]
        await answer(world, "raise by 1 USD")
        assert len(agent.of(session)) == 2
