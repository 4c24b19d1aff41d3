"""What a session is told when something goes wrong."""

from __future__ import annotations

import pytest
from pydantic_ai.exceptions import (
    ModelContextWindowExceededError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)

from navi.agents.failures import DETAIL_LIMIT, failure_of
from navi.agents.models import endpoint_of
from navi.domain.errors import AgentFailed, NotFound

ENDPOINT = endpoint_of("anthropic:m", {"ANTHROPIC_API_KEY": "a-key"}, {}, {})


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (ModelTimeoutError("m", "timed out"), "Anthropic took too long to answer", "more time"),
        (ModelRateLimitError("m", "slow", retry_after=7.2), "too many requests", "again in 7 s"),
        (ModelQuotaExceededError("m", "broke"), "Anthropic has nothing left to spend", "billing"),
        (ModelContextWindowExceededError("m", "long"), "too long for m", "clear the session"),
    ],
)
def test_each_kind_of_failure_says_what_happened_and_what_to_do(error, message, hint):
    failure = failure_of(error, ENDPOINT)
    assert isinstance(failure, AgentFailed)
    assert message in failure.message
    assert hint in failure.hint


def test_a_refusal_of_ours_stays_as_it_is():
    refusal = NotFound("there is no such thing")
    assert failure_of(refusal, ENDPOINT) is refusal


def test_a_useless_answer_is_told_in_one_short_line():
    failure = failure_of(UnexpectedModelBehavior("what\n" + "x" * 1000), ENDPOINT)
    assert failure.message.startswith("the model's answer can't be used: what xxx")
    assert len(failure.message) < DETAIL_LIMIT + 50


def test_what_nobody_expected_is_logged_whole_and_told_without_details(caplog):
    failure = failure_of(KeyError("/home/me/.secret"), None)
    assert isinstance(failure, AgentFailed)
    assert failure.message == "the agent failed unexpectedly (KeyError)"
    assert "/home/me/.secret" in caplog.text
