"""An agent that goes round in circles is noticed once; one that gets on is left alone."""

from __future__ import annotations

from typing import Any

from navi.live.model.event import ToolFinished
from navi.live.model.question import ALLOWED_CALL
from navi.live.model.repeated_calls import RepeatedCalls, digest_of


def call(result: str = "pending", is_error: bool = False, **arguments: Any) -> ToolFinished:
    return ToolFinished("id", "bash", arguments or {"command": "gh run view"}, result, is_error)


def noticed(calls: RepeatedCalls, *seen: ToolFinished) -> list[bool]:
    return [calls.record(each) for each in seen]


def test_the_call_that_reaches_the_limit_is_noticed_once() -> None:
    assert noticed(RepeatedCalls(3, {}), *[call()] * 6) == [False, False, True] + [False] * 3


def test_another_result_input_or_error_is_progress() -> None:
    for other in (call("done"), call(command="ls"), call(is_error=True)):
        seen = [call(), call(), other, call(), call()]
        assert not any(noticed(RepeatedCalls(3, {}), *seen))


def test_zero_notices_nothing() -> None:
    assert not any(noticed(RepeatedCalls(0, {}), *[call()] * 50))


def test_a_call_that_a_person_lets_it_repeat_is_not_noticed_again() -> None:
    calls = RepeatedCalls(3, {ALLOWED_CALL: digest_of(call())})
    assert not any(noticed(calls, *[call()] * 9))
    assert noticed(calls, *[call("failed")] * 3) == [False, False, True]


def test_the_question_names_the_call_and_its_result() -> None:
    calls = RepeatedCalls(2, {})
    noticed(calls, call(), call())
    question = calls.question("turn")
    assert question.title == (
        "The agent called bash 2 times in a row with the same input and the same result"
    )
    assert "gh run view" in question.detail
    assert "pending" in question.detail
    assert [option.label for option in question.options] == ["continue", "stop"]
