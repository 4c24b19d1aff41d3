"""Turns of the built-in agent, through the real loop, with the scripted model."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest

from navi.base.errors import AgentFailed, IterationLimit, NoModel, NotAllowed, UsageLimit
from navi.live.agents.builtin.builtin_driver import BuiltinDriver
from navi.live.agents.driver import Driver
from navi.live.model.event import TextDelta, ThinkingDelta, ToolFinished, ToolStarted, Usage
from navi.live.model.message import drafts_of
from navi.live.model.session import Session
from navi.live.model.tool import ToolResult
from tests.integration.agents.builtin_turns import (
    EndlessTool,
    PlainTool,
    a_request,
    a_session,
    events_and_error,
    events_of,
    text_of,
)
from tests.unit.agents.messages import from_agent, from_user

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


async def results_of(driver: BuiltinDriver, prompt: str) -> list[ToolFinished]:
    events = await events_of(driver, a_request(prompt))
    return [event for event in events if isinstance(event, ToolFinished)]


def test_the_built_in_driver_is_a_driver():
    driver: Driver = BuiltinDriver()
    assert callable(driver.turn)


def test_importing_it_does_not_import_the_libraries_it_runs_on():
    program = (
        "import sys\n"
        "from navi.live.agents.builtin import builtin_driver, scripted_model\n"
        "heavy = {'pydantic', 'pydantic_ai', 'anthropic', 'openai', 'httpx2'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_judge_does_not_import_what_the_first_turn_may_be_importing() -> None:
    """Two threads importing pydantic-ai at once would see it half loaded and fail the turn."""
    code = """
import asyncio, sys
from navi.live.agents.builtin.builtin_driver import BuiltinDriver

class Waiting(BuiltinDriver):
    async def _brain_of(self, spec):
        sys.exit("too early" if "pydantic_ai" in sys.modules else 0)

asyncio.run(Waiting().is_worth_reporting("task", "answer"))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


async def test_without_a_model_the_turn_fails_at_once_and_says_what_to_do() -> None:
    events, error = await events_and_error(BuiltinDriver(model=None), a_request("[[say: hi]]"))
    assert events == []
    assert isinstance(error, NoModel)
    assert error.message == "no model is set up"
    assert "ANTHROPIC_API_KEY" in error.hint
    assert "install Claude Code or Codex" in error.hint


@pytest.mark.parametrize("session", [a_session("scripted"), a_session("builtin", model="scripted")])
async def test_the_scripted_model_needs_no_model_to_be_set_up(session: Session) -> None:
    events = await events_of(BuiltinDriver(model=None), a_request("[[say: hi]]", session=session))
    assert "hi" in str(events)


async def test_everything_is_announced_in_the_order_it_happens():
    driver = BuiltinDriver(tools=[PlainTool()])
    events = await events_of(
        driver, a_request("[[think: hm so]] [[say: I look]] [[bash: ls]] [[say: all done]]")
    )
    started = events[4]
    assert isinstance(started, ToolStarted)
    call = (started.tool_call_id, "terminal", {"command": "ls"})
    assert events == [
        ThinkingDelta("hm "),
        ThinkingDelta("so"),
        TextDelta("I "),
        TextDelta("look"),
        ToolStarted(*call),
        ToolFinished(*call, "did {'command': 'ls'}"),
        TextDelta("all "),
        TextDelta("done"),
        Usage(input_tokens=100, output_tokens=events[-1].output_tokens),  # type: ignore[union-attr]
    ]


async def test_a_message_without_a_script_is_answered_whole():
    events = await events_of(BuiltinDriver(), a_request("what  is\nthis [[thing]]?"))
    assert text_of(events) == "ok: what  is\nthis [[thing]]?"


async def test_what_is_said_in_one_response_is_joined_by_a_space():
    events = await events_of(BuiltinDriver(), a_request("[[say: a b]][[think: x]]\n[[say: c]]"))
    assert text_of(events) == "a b c"


@pytest.mark.parametrize("script", ["[[think: hm]]", "[[say]]", "[[sleep: 0]]", "[[bash: ls]]"])
async def test_a_script_that_says_nothing_ends_with_done(script):
    driver = BuiltinDriver(tools=[PlainTool()])
    assert text_of(await events_of(driver, a_request(script))) == "done"


async def test_the_same_script_costs_the_same_tokens_every_time():
    driver = BuiltinDriver(tools=[PlainTool()])
    request = a_request("[[say: one]] [[bash: ls]] [[say: two]]")
    first, second = [(await events_of(driver, request))[-1] for _ in range(2)]
    assert isinstance(first, Usage)
    assert first.output_tokens > 0
    assert first == second


async def test_events_of_a_turn_become_one_message_for_each_step():
    driver = BuiltinDriver(tools=[PlainTool()])
    events = await events_of(driver, a_request("[[say: a]] [[bash: ls]] [[bash: pwd]] [[say: b]]"))
    drafts = drafts_of(event for event in events if not isinstance(event, Usage))
    assert [(draft.content, len(draft.tool_calls)) for draft in drafts] == [
        ("a", 1),
        ("", 1),
        ("b", 0),
    ]


async def test_the_session_s_own_model_wins_over_the_default():
    driver = BuiltinDriver(model="anthropic:m", environment={})
    request = a_request("hi", session=a_session(model="scripted"))
    assert text_of(await events_of(driver, request)) == "ok: hi"


async def test_a_scripted_session_uses_no_other_model():
    driver = BuiltinDriver(model="anthropic:m", environment={})
    request = a_request("hi", session=a_session(driver="scripted", model="openai:m"))
    assert text_of(await events_of(driver, request)) == "ok: hi"


@pytest.mark.parametrize("model", ["anthropic:m", "openai:m", "martian:m"])
async def test_a_model_that_cannot_be_had_fails_the_turn_with_a_hint(model):
    driver = BuiltinDriver(model=model, environment={})
    events, error = await events_and_error(driver, a_request("hi"))
    assert events == []
    assert isinstance(error, AgentFailed)
    assert error.hint


async def test_a_tool_sees_who_it_works_for():
    seen = []

    async def look(context, arguments):
        seen.append((context.session_id, context.current_user_id, str(context.cwd)))
        return ToolResult("seen")

    await events_of(BuiltinDriver(tools=[PlainTool(work=look)]), a_request("[[bash: ls]]"))
    assert seen == [("s1", "local", "/projects/here")]


async def test_arguments_may_have_any_name():
    tool = PlainTool("odd")
    [result] = await results_of(
        BuiltinDriver(tools=[tool]), '[[tool: odd | {"context": 1, "self": 2, "a b": 3}]]'
    )
    assert result.result == "did {'context': 1, 'self': 2, 'a b': 3}"


async def test_a_refusal_is_an_error_result_with_its_hint_and_the_turn_goes_on():
    async def refuse(context, arguments):
        raise NotAllowed("that path is outside", hint="stay inside")

    driver = BuiltinDriver(tools=[PlainTool(work=refuse)])
    events = await events_of(driver, a_request("[[bash: cat /etc/passwd]] [[say: well]]"))
    [result] = [event for event in events if isinstance(event, ToolFinished)]
    assert (result.result, result.is_error) == ("that path is outside; stay inside", True)
    assert text_of(events) == "well"


async def test_a_tools_error_result_is_marked_as_one():
    async def fail(context, arguments):
        return ToolResult("exit code 1", is_error=True)

    [result] = await results_of(BuiltinDriver(tools=[PlainTool(work=fail)]), "[[bash: false]]")
    assert (result.result, result.is_error) == ("exit code 1", True)


async def test_a_tool_that_breaks_is_logged_and_the_turn_goes_on(caplog):
    async def break_down(context, arguments):
        raise ZeroDivisionError("what now")

    driver = BuiltinDriver(tools=[PlainTool(work=break_down)])
    events = await events_of(driver, a_request("[[bash: ls]] [[say: still here]]"))
    [result] = [event for event in events if isinstance(event, ToolFinished)]
    assert (result.result, result.is_error) == ("the tool terminal failed: what now", True)
    assert text_of(events) == "still here"
    assert "ZeroDivisionError" in caplog.text


async def test_a_tool_that_is_not_there_is_an_error_result_however_often_it_is_called():
    script = "[[tool: nothing]]" * 5 + "[[say: I give up]]"
    events = await events_of(BuiltinDriver(tools=[PlainTool()]), a_request(script))
    results = [event for event in events if isinstance(event, ToolFinished)]
    assert [result.is_error for result in results] == [True] * 5
    assert "terminal" in results[0].result  # what it could have called
    assert text_of(events) == "I give up"


async def test_failing_ends_the_turn_with_exactly_that_message_after_what_was_said():
    events, error = await events_and_error(
        BuiltinDriver(), a_request("[[say: oh]] [[fail: the disk is full]] [[say: never]]")
    )
    assert text_of(events) == "oh"
    assert isinstance(events[-1], Usage)
    assert isinstance(error, AgentFailed)
    assert error.message == "the disk is full"


async def test_a_scripted_limit_says_when_it_resets_after_what_was_said():
    events, error = await events_and_error(
        BuiltinDriver(), a_request("[[say: oh]] [[limit: 90]] [[say: never]]")
    )
    assert text_of(events) == "oh"
    assert isinstance(error, UsageLimit)
    assert error.resets_at(NOON) == NOON + timedelta(seconds=90)


@pytest.mark.parametrize("offered", ["filesystem", "terminal", "something_else"])
async def test_a_loop_calls_a_tool_until_the_iteration_limit(offered):
    driver = BuiltinDriver(tools=[PlainTool(offered)], max_iterations=4)
    events, error = await events_and_error(driver, a_request("[[say: again]] [[loop]]"))
    assert isinstance(error, IterationLimit)
    assert error.message == "stopped after 4 steps"
    assert [event.name for event in events if isinstance(event, ToolFinished)] == [offered] * 4
    assert text_of(events) == "again"
    assert isinstance(events[-1], Usage)


async def test_a_loop_without_tools_says_so():
    assert "no tool" in text_of(await events_of(BuiltinDriver(), a_request("[[loop]]")))


async def test_closing_the_turn_cancels_the_running_tool_and_leaves_no_task():
    tool = EndlessTool()
    before = asyncio.all_tasks()
    async with aclosing(BuiltinDriver(tools=[tool]).turn(a_request("[[bash: wait]]"))) as events:
        assert isinstance(await anext(events), ToolStarted)
        await tool.started.wait()
        assert not tool.was_cancelled
    assert tool.was_cancelled
    assert asyncio.all_tasks() == before


async def test_cancelling_the_task_that_runs_the_turn_cancels_the_running_tool():
    tool = EndlessTool()
    before = asyncio.all_tasks()
    turn = asyncio.create_task(
        events_of(BuiltinDriver(tools=[tool]), a_request("[[bash: wait]] [[say: never]]"))
    )
    await tool.started.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert tool.was_cancelled
    assert asyncio.all_tasks() == before


async def test_a_turn_left_in_the_middle_of_a_text_leaves_no_task():
    before = asyncio.all_tasks()
    async with aclosing(BuiltinDriver().turn(a_request("[[say: a b c]] [[sleep: 999]]"))) as events:
        async for _ in events:
            break
        assert asyncio.all_tasks() != before
    assert asyncio.all_tasks() == before


async def test_turns_run_side_by_side():
    driver = BuiltinDriver(tools=[PlainTool()])
    prompts = [f"[[bash: {n}]] [[say: answer {n}]]" for n in range(20)]
    turns = await asyncio.gather(*(events_of(driver, a_request(prompt)) for prompt in prompts))
    assert [text_of(events) for events in turns] == [f"answer {n}" for n in range(20)]


async def test_a_script_in_the_past_is_not_played_again():
    history = [from_user(0, "[[say: old]] [[bash: ls]]"), from_agent(1, "old")]
    events = await events_of(BuiltinDriver(), a_request("new", history))
    assert text_of(events) == "ok: new"
