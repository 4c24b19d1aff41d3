"""What an agent's dialog asks in a person's terminal, and how its hook gets the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from navi.base.errors import NotYours
from navi.live.model.access.caller import Caller
from navi.live.model.attention import Attention, attention_of
from navi.live.model.hook_report import HookReport
from navi.live.model.question import (
    Decision,
    NewQuestion,
    Question,
    QuestionAnswer,
    QuestionClosed,
    QuestionState,
)
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Outcome
from navi.vendors.claude_code.hooks import ClaudeCodeHooks
from tests.hook_reports import hook_report
from tests.live_world import ADA, LOCAL, NOW, World

ALLOW, DENY = QuestionAnswer(Decision.ALLOW), QuestionAnswer(Decision.DENY, "not today")
TOUCH = {"command": "touch ran"}
ME = Caller(LOCAL)


def report_of(event: str, seconds: float = 0, **fields: Any) -> HookReport:
    return hook_report(event, "its-name", NOW + timedelta(seconds=seconds), **fields)


def asked(tool_input: dict[str, Any] = TOUCH, call_id: str = "terminal-1") -> list[NewQuestion]:
    values = {"hook_event_name": "PermissionRequest", "session_id": "its-name"}
    dialect = ClaudeCodeHooks()
    hook = dialect.hook_class.model_validate(
        {**values, "tool_name": "Bash", "tool_input": tool_input}
    )
    return list(dialect.questions(hook, call_id))


def ask(world: World, new: Sequence[NewQuestion] | None = None) -> asyncio.Task[Any]:
    """The hook's request, which waits for a decision."""
    report = report_of("PermissionRequest", 1)
    work = world.navi.terminals.ask(ME, report, new or asked(), is_run_by_navi=False)
    return asyncio.create_task(work)


async def open_questions(world: World, count: int = 1) -> list[Question]:
    async def look() -> list[Question]:
        found = await world.navi.questions.list_questions(LOCAL, None, QuestionState.OPEN)
        return found if len(found) == count else []

    return list(await world.until(look))


async def answer(world: World, question: Question, given: QuestionAnswer) -> Question:
    return await world.navi.questions.answer(ME, question.id, given, "sm")


async def only_session(world: World) -> Session:
    [session] = await world.navi.sessions.list_sessions(LOCAL)
    return session


async def test_a_dialog_waits_for_a_person_without_a_deadline(world: World) -> None:
    hook = ask(world)
    [question] = await open_questions(world)
    assert question.deadline_at is None
    session = await only_session(world)
    assert (session.state, session.waiting_for) == (SessionState.WAITING, question.id)

    await answer(world, question, ALLOW)

    [closed] = await hook
    assert closed.answer == ALLOW
    # It goes on in the terminal, without a turn of Navi's.
    assert (await only_session(world)).state is SessionState.RUNNING


async def test_a_hook_that_asks_again_gets_the_answer_it_missed(world: World) -> None:
    hook = ask(world)
    [question] = await open_questions(world)
    hook.cancel()
    await asyncio.gather(hook, return_exceptions=True)
    await answer(world, question, DENY)

    [closed] = await ask(world)

    assert (closed.id, closed.answer) == (question.id, DENY)
    assert len(await world.navi.questions.list_questions(LOCAL)) == 1


async def test_a_call_that_has_run_was_allowed_in_the_terminal(world: World) -> None:
    hook = ask(world)
    [question] = await open_questions(world)
    other = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
    await world.navi.terminals.report(ME, report_of("PostToolUse", 2, **other))
    assert await open_questions(world) == [question]
    assert (await only_session(world)).state is SessionState.WAITING

    same = {"tool_name": "Bash", "tool_input": TOUCH, "tool_use_id": "t2"}
    await world.navi.terminals.report(ME, report_of("PostToolUse", 3, **same))

    assert await hook == ()
    assert (await only_session(world)).state is SessionState.RUNNING
    with pytest.raises(QuestionClosed, match="answered in the agent's terminal"):
        await answer(world, question, DENY)


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit", "SessionStart"])
async def test_when_a_turn_begins_or_ends_no_dialog_is_open(world: World, event: str) -> None:
    hook = ask(world)
    [question] = await open_questions(world)

    await world.navi.terminals.report(ME, report_of(event, 2))

    assert await hook == ()
    closed = await world.navi.questions.get(LOCAL, question.id)
    assert (closed.state, closed.answered_via) == (QuestionState.WITHDRAWN, "terminal")


async def test_a_closed_terminal_has_answered_nothing(world: World) -> None:
    hook = ask(world)
    [question] = await open_questions(world)
    await world.navi.terminals.report(ME, report_of("SessionEnd", 2))
    assert await hook == ()
    closed = await world.navi.questions.get(LOCAL, question.id)
    assert (closed.state, closed.answered_via) == (QuestionState.WITHDRAWN, None)


async def test_two_dialogs_with_the_same_content_are_two_questions(world: World) -> None:
    await world.navi.terminals.report(ME, report_of("SessionStart"))
    hooks = [ask(world, asked(call_id=f"terminal-{n}")) for n in (1, 2)]
    first, second = await open_questions(world, 2)
    assert (await only_session(world)).waiting_for in (first.id, second.id)
    await answer(world, first, ALLOW)
    await answer(world, second, DENY)
    decisions = {closed.answer.decision for hook in hooks for closed in await hook}
    assert decisions == {Decision.ALLOW, Decision.DENY}


async def test_the_question_of_a_hook_that_died_is_withdrawn(world: World) -> None:
    hook = ask(world)
    [question] = await open_questions(world)
    hook.cancel()
    await asyncio.gather(hook, return_exceptions=True)

    await world.forward(minutes=2)

    async def is_withdrawn() -> bool:
        current = await world.navi.questions.get(LOCAL, question.id)
        return current.state is QuestionState.WITHDRAWN

    await world.until(is_withdrawn)


async def test_an_agent_that_asks_by_itself_is_not_asked_twice(world: World) -> None:
    """Navi runs it without a terminal, but a person's settings have Navi's hook too."""
    await world.navi.terminals.report(ME, report_of("SessionStart"))
    report = report_of("PermissionRequest", 1)
    closed = await world.navi.terminals.ask(ME, report, asked(), is_run_by_navi=True)
    assert closed == ()
    assert await world.navi.questions.list_questions(LOCAL) == []


async def test_a_call_in_a_pane_that_has_run_was_allowed_there(world: World) -> None:
    """Navi takes only nudges from such a report."""
    hook = ask(world)
    await open_questions(world)
    same = {"tool_name": "Bash", "tool_input": TOUCH, "tool_use_id": "t2"}
    assert await world.navi.terminals.take_nudges(ME, report_of("PostToolUse", 3, **same)) == []
    assert await hook == ()


async def test_another_user_s_agent_asks_nothing_in_a_terminal(world: World) -> None:
    await world.navi.terminals.report(ME, report_of("SessionStart"))
    with pytest.raises(NotYours):
        await world.navi.terminals.ask(
            Caller(ADA), report_of("PermissionRequest", 1), asked(), is_run_by_navi=False
        )


async def test_a_turn_that_fails_in_a_terminal_is_shown_and_over(world: World) -> None:
    await world.navi.terminals.report(ME, report_of("UserPromptSubmit", prompt="build it"))
    assert (await only_session(world)).state is SessionState.RUNNING

    why = "API Error: 500 the model is away"
    failed = report_of("StopFailure", 1, error="server_error", last_assistant_message=why)
    await world.navi.terminals.report(ME, failed)

    session = await only_session(world)
    assert (session.state, session.last_outcome) == (SessionState.IDLE, Outcome.ERROR)
    assert attention_of(session) is Attention.FAILED
    [notification] = await world.navi.notifications.service.list_notifications(LOCAL)
    assert why in notification.text

    # Whoever writes the next prompt has seen it.
    await world.navi.terminals.report(ME, report_of("UserPromptSubmit", 2, prompt="again"))
    assert attention_of(await only_session(world)) is None
