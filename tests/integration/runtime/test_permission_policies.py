"""Unattended sessions and automations: nobody is asked, and the record says what was denied."""

from __future__ import annotations

import pytest

from navi.live.model.access.caller import Caller
from navi.live.model.permission_policy import OnPermission, PermissionPolicy
from navi.live.model.question import Decision, QuestionAnswer, QuestionState
from navi.live.model.scheduling.automation_request import AutomationRequest
from navi.live.model.session import Session, SessionState
from navi.live.runtime.app import running
from navi.live.runtime.settings import AgentSettings, QuestionSettings, Settings
from tests.hand_clock import HandClock
from tests.live_world import LOCAL, World

WRITES = '[[need: terminal | {"command": "touch written.txt"}]] [[say: done]]'
READS = '[[need: terminal | {"command": "ls"}]] [[say: done]]'


async def state(world: World, session: Session) -> SessionState:
    return (await world.navi.sessions.get(LOCAL, session.id)).state


async def test_a_session_that_denies_asks_nobody_and_says_what_was_denied(world: World) -> None:
    session = await world.session(on_permission="deny")
    await world.say(session, READS)

    assert await world.outcomes(session, 1) == ["denied"]

    assert await state(world, session) is SessionState.IDLE
    (question,) = await world.navi.questions.list_questions(LOCAL, session.id)
    assert (question.state, question.answered_by, question.answered_via) == (
        QuestionState.ANSWERED,
        None,
        "policy",
    )
    assert "runs unattended" in ((question.answer and question.answer.text) or "")


@pytest.mark.parametrize(("script", "outcome"), [(READS, "ok"), (WRITES, "denied")])
async def test_an_allow_listed_session_may_do_what_is_harmless(
    world: World, script: str, outcome: str
) -> None:
    session = await world.session(on_permission="allow-listed")
    await world.say(session, script)

    assert await world.outcomes(session, 1) == [outcome]
    assert (world.folder / "written.txt").exists() is False


async def test_an_allow_listed_session_may_do_what_is_listed(
    database_url: str, world: World, clock: HandClock
) -> None:
    settings = Settings(
        agent=AgentSettings(model="scripted"),
        questions=QuestionSettings(
            on_permission=OnPermission.ALLOW_LISTED, allow=["Bash(touch:*)"]
        ),
    )
    async with running(settings, database_url, "token", clock=clock) as navi:
        allowing = World(navi, world.folder, clock)
        session = await allowing.session()
        await allowing.say(session, WRITES)
        assert await allowing.outcomes(session, 1) == ["ok"]
    assert (world.folder / "written.txt").exists()


async def test_a_run_records_its_policy_and_what_was_denied(world: World) -> None:
    session = await world.session()
    request = AutomationRequest(
        name="nightly", message=WRITES, every_seconds=60, on_permission=OnPermission.DENY
    )
    automation = await world.navi.automations.add(LOCAL, session.id, request)

    await world.forward(seconds=61)
    assert await world.outcomes(session, 1) == ["denied"]

    (run,) = await world.navi.automations.list_runs(LOCAL, automation.id)
    assert run.outcome == "denied"
    assert run.error is not None
    assert "touch written.txt" in run.error
    assert run.policy == PermissionPolicy(OnPermission.DENY).snapshot
    assert len(run.policy["sha256"]) == 64
    current = await world.navi.automations.get(LOCAL, automation.id)
    assert (current.enabled, current.failures_in_row) == (True, 0)


async def test_the_policy_of_an_automation_is_not_that_of_its_session(world: World) -> None:
    session = await world.session(on_permission="deny")
    request = AutomationRequest(
        name="asks", message=WRITES, every_seconds=60, on_permission=OnPermission.ASK
    )
    await world.navi.automations.add(LOCAL, session.id, request)
    await world.forward(seconds=61)

    async def asks() -> bool:
        return await state(world, session) is SessionState.WAITING

    assert await world.until(asks)


async def test_the_answer_to_a_question_of_a_run_is_acted_on_under_the_policy_of_the_run(
    world: World,
) -> None:
    session = await world.session()
    message = f"[[ask: Which? | A | B]] {WRITES}"
    request = AutomationRequest(
        name="nightly", message=message, every_seconds=86_400, on_permission=OnPermission.DENY
    )
    await world.navi.automations.add(LOCAL, session.id, request)
    await world.forward(days=1, seconds=1)
    await world.ended(session)

    (question,) = await world.navi.questions.list_questions(LOCAL, session.id, QuestionState.OPEN)
    choice = QuestionAnswer(Decision.CHOOSE, choices=("A",))
    await world.navi.questions.answer(Caller(LOCAL), question.id, choice, "sm")

    assert await world.outcomes(session, 2) == ["ok", "denied"]


async def test_a_child_inherits_its_parents_policy(world: World) -> None:
    parent = await world.session(on_permission="deny")
    child = await world.session(parent_id=parent.id)
    assert child.on_permission is OnPermission.DENY


async def test_a_question_that_ends_the_turn_is_asked_even_unattended(world: World) -> None:
    session = await world.session(on_permission="deny")
    await world.say(session, "[[ask: Which? | A | B]]")
    await world.ended(session)
    assert await state(world, session) is SessionState.WAITING
