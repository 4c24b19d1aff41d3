"""What budgets count, when they are used up, and how people write them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from navi.base.errors import InvalidInput
from navi.live.model.budget import (
    NEVER,
    UNCOUNTED,
    Amount,
    Budget,
    Scope,
    TurnUse,
    after_answer,
    after_turn,
    day_of,
    parse_amount,
    parse_budget,
    pause_end,
    question_about,
    raised,
    use_of,
    used_words,
    why_exhausted,
)
from navi.live.model.event import Usage
from navi.live.model.question import Decision, QuestionAnswer

BERLIN = ZoneInfo("Europe/Berlin")
TWO_DOLLARS = Budget(Scope.SESSION, "s", "local", dollars=2.0)
TOKENS = Budget(Scope.SESSION, "s", "local", tokens=1_000)
DOLLAR = TurnUse(100, 1.0, "gpt-5")
UNPRICED = TurnUse(100, None, "secret")


def spending(budget: Budget, *turns: TurnUse) -> Budget:
    for use in turns:
        budget = after_turn(budget, use)
    return budget


@pytest.mark.parametrize(
    ("text", "amount", "is_daily"),
    [
        ("2usd", Amount(dollars=2.0), False),
        ("$2", Amount(dollars=2.0), False),
        ("0,50 USD", Amount(dollars=0.5), False),
        ("2 dollars a day", Amount(dollars=2.0), True),
        ("500k", Amount(tokens=500_000), False),
        ("500k tokens/day", Amount(tokens=500_000), True),
        ("1.5m tokens per day", Amount(tokens=1_500_000), True),
        ("1200 tokens", Amount(tokens=1_200), False),
    ],
)
def test_amounts_are_read_as_people_write_them(text: str, amount: Amount, is_daily: bool) -> None:
    assert parse_budget(text) == (amount, is_daily)


@pytest.mark.parametrize("text", ["", "2", "0usd", "-1usd", "2k usd", "lots", "$5 tokens", "1e9k"])
def test_what_is_no_amount_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        parse_amount(text)
    assert "2usd" in (refusal.value.hint or "")


def test_a_budget_is_used_up_when_its_limit_is_reached() -> None:
    assert why_exhausted(spending(TWO_DOLLARS, DOLLAR)) is None
    assert why_exhausted(spending(TWO_DOLLARS, DOLLAR, DOLLAR)) == (
        "the session's budget of 2 USD is used up (2 USD used)"
    )
    assert why_exhausted(spending(TOKENS, TurnUse(1_234, None, None))) == (
        "the session's budget of 1,000 tokens is used up (1,234 tokens used)"
    )


def test_tokens_from_the_cache_count_for_dollars_only() -> None:
    usage = Usage(10, 20, 5_000, 30, "gpt-5", 0.25)
    assert use_of(usage) == TurnUse(60, 0.25, "gpt-5")


def test_a_turn_whose_agent_reports_nothing_counts_nothing() -> None:
    assert use_of(Usage()) is None


def test_an_unknown_price_is_said_and_stops_a_budget_in_dollars() -> None:
    budget = spending(TWO_DOLLARS, UNPRICED)
    assert budget.used_dollars == 0
    assert why_exhausted(budget) == (
        "no price is known for the model secret, so dollars cannot be counted; set a token budget"
    )
    assert used_words(budget) == "used 0 of 2 USD, not counting 1 turn of unknown price"


def test_a_model_that_the_agent_does_not_name_has_no_price() -> None:
    reason = why_exhausted(spending(TWO_DOLLARS, TurnUse(100, None, None)))
    assert reason is not None
    assert reason.startswith("the agent doesn't say which model it uses")


def test_an_unknown_price_stops_neither_a_token_budget_nor_everybodys_day() -> None:
    assert why_exhausted(spending(replace(TWO_DOLLARS, tokens=1_000), UNPRICED)) is None
    day = Budget(Scope.USER, "local", "local", dollars=2.0, daily=True)
    assert why_exhausted(spending(day, UNPRICED)) is None
    assert used_words(spending(day, UNPRICED, UNPRICED)) == (
        "used 0 of 2 USD today, not counting 2 turns of unknown price"
    )


def test_a_new_day_starts_from_nothing_and_forgets_what_was_added() -> None:
    budget = replace(TWO_DOLLARS, daily=True, day="2026-11-15", extra_dollars=5.0)
    used = spending(budget, DOLLAR, UNPRICED)
    assert used.on("2026-11-15") == used
    tomorrow = used.on("2026-11-16")
    assert (tomorrow.used_dollars, tomorrow.unpriced_turns) == (0, 0)
    assert tomorrow.limit == Amount(dollars=2.0)


def test_the_day_is_the_persons_not_the_servers() -> None:
    late = datetime(2026, 11, 15, 23, 30, tzinfo=UTC)
    assert (day_of(late, UTC), day_of(late, BERLIN)) == ("2026-11-15", "2026-11-16")


@pytest.mark.parametrize(
    ("now", "end"),
    [
        (datetime(2026, 11, 15, 12, tzinfo=UTC), datetime(2026, 11, 15, 23, tzinfo=UTC)),
        # The clocks change on this day, which has 23 hours.
        (datetime(2026, 3, 28, 23, 30, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC)),
    ],
)
def test_a_day_ends_at_midnight_in_the_persons_time_zone(now: datetime, end: datetime) -> None:
    assert pause_end(replace(TWO_DOLLARS, daily=True), now, BERLIN) == end
    assert pause_end(TWO_DOLLARS, now, BERLIN) == NEVER


def test_raising_counts_from_what_is_used_already() -> None:
    used = spending(TWO_DOLLARS, TurnUse(1, 9.0, "gpt-5"))
    assert raised(used, Amount(dollars=2.0)).limit == Amount(dollars=11.0)
    assert why_exhausted(raised(used, Amount(dollars=0.01))) is None


def test_a_budget_is_raised_in_what_it_counts() -> None:
    with pytest.raises(InvalidInput, match="is not in dollars"):
        raised(spending(TOKENS, TurnUse(1_000, None, None)), Amount(dollars=2.0))


def test_the_question_offers_the_same_amount_again_or_to_stop() -> None:
    used = spending(TWO_DOLLARS, DOLLAR, DOLLAR)
    question = question_about(used, why_exhausted(used) or "")
    labels = [option.label for option in question.options]
    assert labels == ["raise by 2 USD", "stop"]
    again = after_answer(used, QuestionAnswer(Decision.CHOOSE, choices=(labels[0],)))
    assert again is not None
    assert again.limit == Amount(dollars=4.0)
    assert after_answer(used, QuestionAnswer(Decision.CHOOSE, choices=("stop",))) is None
    assert after_answer(used, QuestionAnswer(Decision.DENY, "no")) is None


def test_a_budget_that_cannot_be_counted_can_be_given_up_or_be_in_tokens() -> None:
    budget = spending(TWO_DOLLARS, UNPRICED)
    given_up = after_answer(budget, QuestionAnswer(Decision.CHOOSE, choices=(UNCOUNTED,)))
    assert given_up is not None
    assert given_up.limit.is_none
    in_tokens = after_answer(budget, QuestionAnswer(Decision.REPLY, "1k tokens"))
    assert in_tokens is not None
    assert in_tokens.limit == Amount(tokens=1_100)
    with pytest.raises(InvalidInput, match="no price is known"):
        after_answer(budget, QuestionAnswer(Decision.REPLY, "5usd"))


@pytest.mark.parametrize(
    ("dollars", "words"),
    [(0.0042, "used 0.0042 of 2 USD"), (1.2, "used 1.20 of 2 USD"), (2.0, "used 2 of 2 USD")],
)
def test_what_is_used_is_shown_in_dollars_and_cents(dollars: float, words: str) -> None:
    assert used_words(replace(TWO_DOLLARS, used_dollars=dollars)) == words
