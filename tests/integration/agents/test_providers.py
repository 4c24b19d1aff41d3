"""Turns over real HTTP: what providers receive, and how their answers are read."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from navi.base.errors import AgentFailed, IterationLimit, NotAllowed, UsageLimit
from navi.live.agents.builtin.builtin_driver import BuiltinDriver
from navi.live.model.event import TextDelta, ToolFinished, ToolStarted, Usage
from navi.live.model.message import ToolCall
from navi.live.model.tool import ToolResult
from tests.integration.agents.builtin_turns import (
    SECRET,
    PlainTool,
    a_request,
    events_and_error,
    events_of,
    every_provider,
    provider,
    text_of,
    thinking_of,
)
from tests.integration.agents.stand_in import Answer, Call
from tests.unit.agents.messages import from_agent, from_user

SOMEONE_S = "sk-proj-567890"


@every_provider
async def test_an_answer_is_streamed_as_it_comes(model):
    async with provider(model, Answer(text="hello you")) as (server, driver):
        events = await events_of(driver, a_request("hi"))
    assert [event.delta for event in events if isinstance(event, TextDelta)] == ["hell", "o you"]
    assert server.last["model"] == "m"
    assert server.last["stream"] is True


@pytest.mark.parametrize("model", ["anthropic:m", "openai:m"])
async def test_thinking_is_streamed_before_the_answer(model):
    async with provider(model, Answer(thinking="let me see", text="yes")) as (_, driver):
        events = await events_of(driver, a_request("hi"))
    assert thinking_of(events) == "let me see"
    assert text_of(events) == "yes"
    kinds = [type(event).__name__ for event in events]
    assert kinds == [*["ThinkingDelta"] * 2, *["TextDelta"] * 2, "Usage"]


@every_provider
async def test_a_tool_is_called_and_its_result_goes_back_to_the_model(model):
    answers = [Answer(calls=[Call("c1", "terminal", '{"command": "ls"}')]), Answer(text="done")]
    async with provider(model, *answers, tools=[PlainTool()]) as (server, driver):
        events = await events_of(driver, a_request("look"))
    call = ("c1", "terminal", {"command": "ls"})
    assert events[0] == ToolStarted(*call)
    assert events[1] == ToolFinished(*call, "did {'command': 'ls'}")
    assert text_of(events) == "done"
    assert "did {'command': 'ls'}" in json.dumps(server.last)


@every_provider
async def test_several_calls_in_one_answer_all_run_and_all_finish(model):
    both_started = asyncio.Barrier(2)

    async def meet(context, arguments):
        await both_started.wait()  # would wait forever if they ran one after the other
        return ToolResult(f"did {arguments}")

    answers = [
        Answer(calls=[Call("c1", "terminal", '{"n": 1}'), Call("c2", "terminal", '{"n": 2}')]),
        Answer(text="done"),
    ]
    async with provider(model, *answers, tools=[PlainTool(work=meet)]) as (_, driver):
        events = await events_of(driver, a_request("look"))
    started = {event.tool_call_id for event in events if isinstance(event, ToolStarted)}
    results = {e.tool_call_id: e.result for e in events if isinstance(e, ToolFinished)}
    assert started == {"c1", "c2"}
    assert results == {"c1": "did {'n': 1}", "c2": "did {'n': 2}"}


@every_provider
@pytest.mark.parametrize("arguments", ["[1, 2]", '"text"', "{broken", "null"])
async def test_arguments_that_are_not_an_object_go_back_to_the_model_as_an_error(model, arguments):
    wrong = Answer(calls=[Call("c1", "terminal", arguments)])
    again = Answer(calls=[Call("c2", "terminal", arguments)])
    answers = [wrong, again, Answer(text="sorry")]
    async with provider(model, *answers, tools=[PlainTool()]) as (server, driver):
        events = await events_of(driver, a_request("look"))
    results = [event for event in events if isinstance(event, ToolFinished)]
    assert [(result.tool_call_id, result.is_error) for result in results] == [
        ("c1", True),
        ("c2", True),
    ]
    for result in results:  # a sentence, not a data structure
        assert result.result.startswith(("Input should be an object", "Invalid JSON"))
    assert text_of(events) == "sorry"
    assert len(server.requests) == 3


async def test_a_refusal_reaches_the_model_as_an_error():
    async def refuse(context, arguments):
        raise NotAllowed("outside", hint="stay inside")

    answers = [Answer(calls=[Call("c1", "terminal", "{}")]), Answer(text="well")]
    async with provider("anthropic:m", *answers, tools=[PlainTool(work=refuse)]) as (server, d):
        await events_of(d, a_request("look"))
    [result] = server.last["messages"][-1]["content"]
    assert result["tool_use_id"] == "c1"
    assert result["is_error"] is True
    assert "outside; stay inside" in json.dumps(result)


@every_provider
@pytest.mark.parametrize("is_error", [False, True])
async def test_a_nudge_reaches_the_model_with_the_result_of_a_tool(model, is_error):
    waiting = ["report now"]

    async def nudges(tool_call_id):
        assert tool_call_id == "c1"
        return [waiting.pop()]

    async def work(context, arguments):
        return ToolResult("the result", is_error)

    answers = [Answer(calls=[Call("c1", "terminal", "{}")]), Answer(text="well")]
    request = a_request("look")
    request = replace(request, context=replace(request.context, nudges=nudges))
    async with provider(model, *answers, tools=[PlainTool(work=work)]) as (server, driver):
        events = await events_of(driver, request)
    last = json.dumps(server.last)
    assert last.index("the result") < last.index("report now")
    assert text_of(events) == "well"
    assert len(server.requests) == 2


async def test_thinking_goes_back_within_a_turn_as_the_provider_demands():
    answers = [
        Answer(thinking="plan", calls=[Call("c1", "terminal", "{}")]),
        Answer(text="done"),
    ]
    async with provider("anthropic:m", *answers, tools=[PlainTool()]) as (server, driver):
        await events_of(driver, a_request("look"))
    thinking = server.last["messages"][-2]["content"][0]
    assert (thinking["thinking"], thinking["signature"]) == ("plan", "signed")


@every_provider
async def test_a_model_that_never_stops_calling_tools_meets_the_iteration_limit(model):
    answers = [Answer(calls=[Call(f"c{n}", "terminal", "{}")]) for n in range(9)]
    async with provider(model, *answers, tools=[PlainTool()], max_iterations=3) as (server, driver):
        events, error = await events_and_error(driver, a_request("go"))
    assert isinstance(error, IterationLimit)
    assert len(server.requests) == 3
    assert isinstance(events[-1], Usage)


@every_provider
async def test_an_empty_answer_after_a_tool_ends_the_turn_well(model):
    answers = [Answer(calls=[Call("c1", "terminal", "{}")]), Answer()]
    async with provider(model, *answers, tools=[PlainTool()]) as (server, driver):
        events = await events_of(driver, a_request("go"))
    assert text_of(events) == ""
    assert len(server.requests) == 2


@every_provider
async def test_an_answer_that_was_cut_off_is_kept_and_the_turn_has_failed(model):
    async with provider(model, Answer(text="the first half", is_cut_off=True)) as (_, driver):
        events, error = await events_and_error(driver, a_request("hi"))
    assert text_of(events) == "the first half"
    assert isinstance(error, AgentFailed)
    assert "cut off" in error.message


@pytest.mark.parametrize("thinking", [True, False])
async def test_anthropic_is_asked_to_cache_and_on_request_to_think(thinking):
    async with provider("anthropic:m", Answer(text="ok"), thinking=thinking) as (server, driver):
        await events_of(driver, a_request("hi"))
    assert server.last["cache_control"]["type"] == "ephemeral"
    assert ("thinking" in server.last) is thinking


async def test_usage_counts_all_requests_of_the_turn():
    answers = [Answer(calls=[Call("c1", "terminal", "{}")]), Answer(text="done")]
    async with provider("anthropic:m", *answers, tools=[PlainTool()]) as (_, driver):
        events = await events_of(driver, a_request("go"))
    assert events[-1] == Usage(
        input_tokens=14, output_tokens=10, cache_read_tokens=6, cache_creation_tokens=4
    )


async def test_instructions_tools_and_the_working_directory_are_sent():
    async with provider(
        "openai:m", Answer(text="ok"), tools=[PlainTool()], instructions="Be kind."
    ) as (server, driver):
        await events_of(driver, a_request("hi"))
    [system, user] = server.last["messages"]
    assert "Be kind." in system["content"]
    assert "/projects/here" in system["content"]
    assert user["content"] == "hi"
    assert server.last["tools"][0]["function"]["name"] == "terminal"
    assert server.requests[0].headers["authorization"] == f"Bearer {SECRET}"


@every_provider
async def test_the_model_is_told_what_time_it_is_where_the_person_is(model):
    now = datetime(2026, 11, 18, 8, 30, tzinfo=UTC)
    request = a_request("hi", started_at=now, zone=ZoneInfo("Europe/Berlin"))
    async with provider(model, Answer(text="ok")) as (server, driver):
        await events_of(driver, request)
    sent = json.dumps(server.last.get("messages") or server.last["input"])
    assert "It is now 2026-11-18 09:30 +01:00 (08:30 UTC)." in sent
    assert sent.index("It is now") < sent.index('"hi"')


async def test_a_recall_s_instruction_is_not_taken_for_the_person_s_words():
    instruction = replace(from_user(0, "Read build.log"), is_recall=True)
    past = [
        instruction,
        from_agent(1, "no errors"),
        from_user(2, "thanks"),
        from_agent(3, "welcome"),
    ]
    async with provider("openai:m", Answer(text="ok")) as (server, driver):
        await events_of(driver, a_request("and now?", past))
    texts = [m["content"] for m in server.last["messages"] if m["role"] == "user"]
    assert texts == [
        "[A scheduled recall's instruction, not the person's words]\nRead build.log",
        "thanks",
        "and now?",
    ]


HISTORY = [
    from_user(0, "look around"),
    from_agent(1, "I look", ToolCall("old call!", "terminal", {"command": "ls"}, "x.py")),
    from_agent(2, "one file"),
]


async def test_anthropic_is_shown_the_whole_past():
    async with provider("anthropic:m", Answer(text="ok")) as (server, driver):
        await events_of(driver, a_request("and now?", HISTORY))
    roles = [message["role"] for message in server.last["messages"]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    call, result = server.last["messages"][1]["content"][1], server.last["messages"][2]["content"]
    assert call["input"] == {"command": "ls"}
    assert result[0]["tool_use_id"] == call["id"] == "call_1_0"
    assert "x.py" in json.dumps(result)
    assert "and now?" in json.dumps(server.last["messages"][4])


async def test_openai_is_shown_the_whole_past():
    async with provider("openai:m", Answer(text="ok")) as (server, driver):
        await events_of(driver, a_request("and now?", HISTORY))
    messages = [message for message in server.last["messages"] if message["role"] != "system"]
    assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert messages[2]["tool_call_id"] == messages[1]["tool_calls"][0]["id"] == "call_1_0"
    assert messages[2]["content"] == "x.py"
    assert messages[4]["content"] == "and now?"


async def test_the_responses_api_is_shown_the_whole_past():
    async with provider("openai-responses:m", Answer(text="ok")) as (server, driver):
        await events_of(driver, a_request("and now?", HISTORY))
    items = [item.get("type", item.get("role")) for item in server.last["input"]]
    assert items.count("function_call") == items.count("function_call_output") == 1
    assert "and now?" in json.dumps(server.last["input"][-1])


@every_provider
async def test_a_past_that_ends_with_a_tool_s_result_is_accepted(model):
    history = [from_user(0, "go"), from_agent(1, "", ToolCall("c", "terminal", {}, "stopped here"))]
    async with provider(model, Answer(text="ok")) as (server, driver):
        events = await events_of(driver, a_request("continue", history))
    assert text_of(events) == "ok"
    sent = json.dumps(server.last)
    assert sent.index("stopped here") < sent.index("continue")


def problem(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "code": kind, "message": message}}


@every_provider
@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, problem("authentication_error", f"bad key {SECRET}"), "did not accept the API key"),
        (404, problem("not_found_error", "model: m"), "has no model m"),
        (500, problem("api_error", "oops"), "is unavailable"),
        (503, problem("api_error", "oops"), "is unavailable"),
        (
            400,
            problem("invalid_request_error", f"no such\nfield {SECRET} {SOMEONE_S}"),
            "field … …",
        ),
        (400, {}, "refused the request (HTTP 400)"),
    ],
)
async def test_a_providers_error_is_shown_plainly_and_without_secrets(model, status, body, words):
    async with provider(model, Answer(status=status, problem=body)) as (server, driver):
        events, error = await events_and_error(driver, a_request("hi"))
    assert isinstance(error, AgentFailed)
    assert words in error.message
    assert server.url in error.message
    assert SECRET not in error.message + error.hint
    assert SOMEONE_S not in error.message + error.hint
    assert "\n" not in error.message
    assert events == [Usage()]


@every_provider
@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (429, problem("rate_limit_error", "slow down"), "too many requests"),
        (429, problem("insufficient_quota", "no money"), "429"),
        (529, problem("overloaded_error", "Overloaded"), "is overloaded (HTTP 529)"),
    ],
)
async def test_a_provider_that_takes_no_more_requests_is_a_limit(model, status, body, words):
    async with provider(model, Answer(status=status, problem=body)) as (_, driver):
        events, error = await events_and_error(driver, a_request("hi"))
    assert isinstance(error, UsageLimit)
    assert words in error.message
    assert events == [Usage()]


@pytest.mark.parametrize("model", ["anthropic:m", "openai:m"])
async def test_a_server_that_is_not_there_is_named(model):
    with socket.socket() as closed:
        # Bound, so no one else takes the port, but not listening.
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        driver = BuiltinDriver(
            model=model,
            base_urls={"anthropic": url, "openai": f"{url}/v1"},
            environment={},
        )
        events, error = await events_and_error(driver, a_request("hi"))
        await driver.aclose()
    assert events == [Usage()]
    assert isinstance(error, AgentFailed)
    assert error.message == f"no connection to {url}"


@every_provider
async def test_closing_the_turn_hangs_up_on_the_provider(model):
    async with provider(model, Answer(text="and so on", never_ends=True)) as (server, driver):
        async with aclosing(driver.turn(a_request("hi"))) as events:
            assert await anext(events) == TextDelta("and ")
            assert not server.client_left.is_set()
        await server.client_left.wait()


async def test_a_second_turn_shows_the_model_the_first():
    async with provider("openai:m", Answer(text="Ada"), Answer(text="still Ada")) as (server, d):
        first = text_of(await events_of(d, a_request("who?")))
        history = [from_user(0, "who?"), from_agent(1, first)]
        await events_of(d, a_request("sure?", history))
    contents = [m["content"] for m in server.last["messages"] if m["role"] != "system"]
    assert contents == ["who?", "Ada", "sure?"]
