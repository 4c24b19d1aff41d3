"""Compaction of a long past, over real HTTP and with the scripted model."""

from __future__ import annotations

import json

import pytest

from navi.live.agents.builtin.builtin_driver import BuiltinDriver
from navi.live.model.event import HistoryCompacted, Usage
from tests.integration.agents.builtin_turns import (
    PlainTool,
    a_request,
    events_of,
    every_provider,
    provider,
    text_of,
)
from tests.integration.agents.stand_in import Answer, Call
from tests.unit.agents.messages import from_agent, from_user

LONG_PAST = [
    from_user(0, "remember: the name is Ada"),
    from_agent(1, "a" * 2000),
    from_user(2, "what about the build?"),
    from_agent(3, "it works"),
]


@every_provider
async def test_a_past_that_is_too_long_is_summarised_by_the_same_model(model):
    answers = [Answer(text="  The name is Ada.  "), Answer(text="fine")]
    async with provider(model, *answers, history_tokens=200, tools=[PlainTool()]) as (server, d):
        events = await events_of(d, a_request("and now?", LONG_PAST))

    assert events[0] == HistoryCompacted("The name is Ada.", up_to_idx=1)
    assert text_of(events) == "fine"
    asked_for_summary, asked_for_answer = (json.dumps(r.body) for r in server.requests)
    assert "remember: the name is Ada" in asked_for_summary
    assert "what about the build?" not in asked_for_summary
    assert not server.requests[0].body.get("tools")
    assert "The name is Ada." in asked_for_answer
    assert "remember:" not in asked_for_answer
    assert "what about the build?" in asked_for_answer


async def test_the_tokens_of_a_summary_are_counted():
    answers = [Answer(text="The name is Ada."), Answer(text="fine")]
    async with provider("openai:m", *answers, history_tokens=200) as (_, driver):
        events = await events_of(driver, a_request("and now?", LONG_PAST))
    assert events[-1] == Usage(input_tokens=20, output_tokens=10)


@pytest.mark.parametrize(
    "no_summary", [Answer(status=500), Answer(text=" "), Answer(calls=[Call("c", "x", "{}")])]
)
async def test_a_failed_summary_is_replaced_by_a_digest_and_the_turn_goes_on(no_summary):
    answers = [no_summary, Answer(text="fine")]
    async with provider("anthropic:m", *answers, history_tokens=200) as (_, driver):
        events = await events_of(driver, a_request("and now?", LONG_PAST))
    compacted = events[0]
    assert isinstance(compacted, HistoryCompacted)
    assert compacted.up_to_idx == 1
    assert "remember: the name is Ada" in compacted.summary
    assert text_of(events) == "fine"


async def test_a_past_that_is_too_long_is_first_replaced_by_a_digest():
    history = []
    for turn in range(10):
        history += [from_user(2 * turn, f"question {turn}"), from_agent(2 * turn + 1, "a" * 400)]
    driver = BuiltinDriver(history_tokens=500)

    events = await events_of(driver, a_request("[[say: and now]]", history))

    compacted = events[0]
    assert isinstance(compacted, HistoryCompacted)
    # 20 messages of about 1,000 tokens; the last two turns fit into half of 500.
    assert compacted.up_to_idx == 15
    assert "Earlier messages no longer shown: 16." in compacted.summary
    assert "question 7" in compacted.summary
    assert "question 8" not in compacted.summary
    assert text_of(events) == "and now"
    assert [event for event in events[1:] if isinstance(event, HistoryCompacted)] == []


async def test_a_short_past_is_left_alone():
    history = [from_user(0, "question"), from_agent(1, "answer")]
    events = await events_of(BuiltinDriver(), a_request("hi", history))
    assert not any(isinstance(event, HistoryCompacted) for event in events)
