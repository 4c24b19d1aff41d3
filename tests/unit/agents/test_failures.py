"""The message a session gets when something goes wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic_ai.exceptions import (
    ModelContextWindowExceededError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
)

from navi.base.errors import AgentFailed, NotFound, UsageLimit
from navi.live.agents.builtin.model_failures import DETAIL_LIMIT, failure_of
from navi.live.agents.builtin.models import endpoint_of

ENDPOINT = endpoint_of("anthropic:m", {"ANTHROPIC_API_KEY": "a-key"}, {}, {})
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (ModelTimeoutError("m", "timed out"), "Anthropic took too long to answer", "in a minute"),
        (ModelContextWindowExceededError("m", "long"), "too long for m", "clear the session"),
    ],
)
def test_each_kind_of_failure_says_what_happened_and_what_to_do(error, message, hint):
    failure = failure_of(error, ENDPOINT)
    assert isinstance(failure, AgentFailed)
    assert message in failure.message
    assert hint in failure.hint


@pytest.mark.parametrize(
    ("error", "message", "hint", "resets_at"),
    [
        (
            ModelRateLimitError("m", "slow", retry_after=7.2),
            "too many requests",
            "again in 7 s",
            NOON + timedelta(seconds=7.2),
        ),
        (ModelRateLimitError("m", "slow"), "too many requests", "again in a minute", None),
        (ModelOverloadedError("m", "busy"), "Anthropic is overloaded", "again in a minute", None),
        (
            ModelQuotaExceededError("m", "broke"),
            "the Anthropic account has no credit left",
            "billing",
            None,
        ),
    ],
)
def test_a_limit_says_when_to_try_again_if_that_is_known(error, message, hint, resets_at):
    limit = failure_of(error, ENDPOINT)
    assert isinstance(limit, UsageLimit)
    assert message in limit.message
    assert hint in limit.hint
    assert limit.resets_at(NOON) == resets_at


def test_a_limit_never_lasts_longer_than_a_calendar_can_say():
    limit = failure_of(ModelRateLimitError("m", "slow", retry_after=1e300), ENDPOINT)
    assert isinstance(limit, UsageLimit)
    resets_at = limit.resets_at(NOON)
    assert resets_at is not None
    assert resets_at.year < 2030


def test_a_refusal_of_ours_stays_as_it_is():
    refusal = NotFound("there is no such thing")
    assert failure_of(refusal, ENDPOINT) is refusal


def test_a_useless_answer_is_reported_in_one_short_line():
    failure = failure_of(UnexpectedModelBehavior("what\n" + "x" * 1000), ENDPOINT)
    assert failure.message.startswith("the model's answer can't be used: what xxx")
    assert len(failure.message) < DETAIL_LIMIT + 50


def test_an_unexpected_error_is_logged_in_full_and_reported_without_details(caplog):
    failure = failure_of(KeyError("/home/me/.secret"), None)
    assert isinstance(failure, AgentFailed)
    assert failure.message == "the agent failed unexpectedly (KeyError)"
    assert "/home/me/.secret" in caplog.text
