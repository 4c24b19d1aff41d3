"""Budgets: the tokens or estimated dollars that a session, an automation or a day may use.

A budget counts from the moment it is set. A session's budget includes the sessions that it starts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import ClassVar

from navi.base.errors import InvalidInput
from navi.live.model.event import Usage
from navi.live.model.question import (
    BUDGET_CALL,
    STOP,
    Decision,
    NewQuestion,
    Option,
    QuestionAnswer,
    QuestionKind,
)

NEVER = datetime(9999, 12, 31, tzinfo=UTC)
"""The end of a pause that only a person can end."""
UNCOUNTED = "go on without counting dollars"
_RAISE_BY = "raise by "
_AMOUNT = re.compile(
    r"(?P<sign>\$)?\s*(?P<number>\d+(?:[.,]\d+)?)\s*(?P<factor>[km])?\s*"
    r"(?P<unit>usd|dollars?|\$|tokens?)?"
)
_PER_DAY = re.compile(r"\s*(?:/|\bper\b|\ba\b)\s*day$")
_FACTORS = {None: 1, "k": 1_000, "m": 1_000_000}
AMOUNT_HINT = "use e.g. 2usd, 0.50usd, 500k tokens or 1.5m tokens; for a daily budget, add /day"


class Scope(StrEnum):
    """What a budget is for."""

    SESSION = "session"
    AUTOMATION = "automation"
    USER = "user"
    """All sessions of a user, day by day."""


@dataclass(frozen=True, slots=True)
class Amount:
    tokens: int | None = None
    dollars: float | None = None
    """US dollars, estimated from the vendors' price lists."""

    @property
    def is_none(self) -> bool:
        return self.tokens is None and self.dollars is None

    def in_words(self) -> str:
        parts = [] if self.dollars is None else [_dollars(self.dollars)]
        parts += [] if self.tokens is None else [_tokens(self.tokens)]
        return " and ".join(parts)


NOTHING = Amount()


@dataclass(frozen=True, slots=True)
class BudgetRequest:
    """A budget as people ask for it."""

    __pydantic_config__: ClassVar = {"strict": False, "extra": "forbid"}  # accept JSON objects

    tokens: int | None = field(default=None, metadata={"strict": True})
    dollars: float | None = field(default=None, metadata={"strict": True})
    per: str | None = None

    @property
    def amount(self) -> Amount:
        return amount_of(self.tokens, self.dollars)


@dataclass(frozen=True, slots=True)
class TurnUse:
    """The tokens and dollars that one turn has used."""

    tokens: int
    """Without tokens that were read from the vendor's cache."""
    dollars: float | None
    """None if the model's price is unknown."""
    model: str | None


@dataclass(frozen=True, slots=True)
class Budget:
    """An allowance, and how much of it is used."""

    scope: Scope
    owner_id: str
    """The id of the session, the automation or the user."""
    user_id: str
    tokens: int | None = None
    dollars: float | None = None
    daily: bool = False
    """Whether the allowance starts over each day."""
    extra_tokens: int = 0
    extra_dollars: float = 0.0
    """How much a person has added to the allowance; if it is daily, for that day only."""
    used_tokens: int = 0
    used_dollars: float = 0.0
    unpriced_turns: int = 0
    """Turns whose cost is unknown."""
    unpriced_model: str | None = None
    """The model of the last such turn, if the agent named it."""
    day: str | None = None
    """The day that a daily budget is counting."""
    paused_until: datetime | None = None
    """When waiting inputs may continue; None if it was not used up at the last check."""
    question_id: str | None = None
    """The question that asks a person to raise it."""
    asks: int = 0
    """How many times a person was asked to raise it."""

    @property
    def key(self) -> str:
        return budget_key(self.scope, self.owner_id)

    @property
    def limit(self) -> Amount:
        """The allowance, including what a person has added."""
        return Amount(
            None if self.tokens is None else self.tokens + self.extra_tokens,
            None if self.dollars is None else self.dollars + self.extra_dollars,
        )

    @property
    def per(self) -> str:
        return "day" if self.daily else self.scope.value

    @property
    def cannot_count(self) -> bool:
        """Whether it is only in dollars, and the cost of some turns is unknown.

        Never true of a user's daily budget: one session's model must not stop all the others.
        """
        is_in_dollars = self.dollars is not None and self.tokens is None
        return is_in_dollars and self.unpriced_turns > 0 and self.scope is not Scope.USER

    def limited_by(self, default: Amount) -> Budget:
        """The budget. A user's daily budget without an allowance gets the default one."""
        if self.scope is not Scope.USER or not Amount(self.tokens, self.dollars).is_none:
            return self
        return replace(self, tokens=default.tokens, dollars=default.dollars)

    def on(self, day: str) -> Budget:
        """The budget on this day. On a new day, none of a daily budget is used."""
        if not self.daily or self.day == day:
            return self
        return replace(
            self,
            day=day,
            extra_tokens=0,
            extra_dollars=0.0,
            used_tokens=0,
            used_dollars=0.0,
            unpriced_turns=0,
            unpriced_model=None,
            paused_until=None,
            question_id=None,
        )


@dataclass(frozen=True, slots=True)
class Pause:
    """Why a session waits, and until when; `until` is None if only a person can end it."""

    budget: str
    reason: str
    until: datetime | None


def budget_key(scope: Scope, owner_id: str) -> str:
    return f"{scope.value}:{owner_id}"


def budget_of_call(call_id: str) -> str:
    """The key of the budget that the question with this call id is about."""
    return call_id.removeprefix(BUDGET_CALL).rpartition(":")[0]


def day_of(now: datetime, zone: tzinfo) -> str:
    """The day in the person's time zone."""
    return now.astimezone(zone).date().isoformat()


def use_of(usage: Usage) -> TurnUse | None:
    """What a turn has used; None if its agent did not report it."""
    tokens = usage.input_tokens + usage.output_tokens + usage.cache_creation_tokens
    if not tokens and not usage.cache_read_tokens:
        return None
    return TurnUse(tokens, usage.dollars, usage.model)


def after_turn(budget: Budget, use: TurnUse) -> Budget:
    """The budget after a turn that used this much."""
    counted = replace(budget, used_tokens=budget.used_tokens + use.tokens)
    if use.dollars is None:
        unpriced = counted.unpriced_turns + 1
        return replace(counted, unpriced_turns=unpriced, unpriced_model=use.model)
    return replace(counted, used_dollars=budget.used_dollars + use.dollars)


def why_exhausted(budget: Budget) -> str | None:
    """Why the budget is exhausted, in words; None if it isn't."""
    limit, name = budget.limit, _name(budget)
    if budget.cannot_count:
        return f"{unknown_price(budget.unpriced_model)}; set a token budget"
    if limit.dollars is not None and budget.used_dollars >= limit.dollars:
        used = _dollars(budget.used_dollars)
        return f"{name} of {_dollars(limit.dollars)} is used up ({used} used)"
    if limit.tokens is not None and budget.used_tokens >= limit.tokens:
        used = _tokens(budget.used_tokens)
        return f"{name} of {_tokens(limit.tokens)} is used up ({used} used)"
    return None


def unknown_price(model: str | None) -> str:
    if model is None:
        return "the agent doesn't say which model it uses, so dollars cannot be counted"
    return f"no price is known for the model {model}, so dollars cannot be counted"


def used_words(budget: Budget) -> str:
    """How much is used, for people: `used 1.20 of 2 USD`."""
    limit = budget.limit
    parts = []
    if limit.dollars is not None:
        parts.append(f"{_number(budget.used_dollars)} of {_dollars(limit.dollars)}")
    if limit.tokens is not None:
        parts.append(f"{budget.used_tokens:,} of {_tokens(limit.tokens)}")
    if limit.is_none:
        parts.append(f"{_dollars(budget.used_dollars)}, {_tokens(budget.used_tokens)}")
    words = "used " + " and ".join(parts)
    if budget.daily:
        words += " today"
    if budget.unpriced_turns and limit.tokens is None:
        count = budget.unpriced_turns
        turns = "1 turn" if count == 1 else f"{count} turns"
        words += f", not counting {turns} of unknown price"
    return words


def pause_end(budget: Budget, now: datetime, zone: tzinfo) -> datetime:
    """When inputs that wait for the budget may continue if nobody raises it."""
    if not budget.daily:
        return NEVER
    tomorrow = now.astimezone(zone).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time.min, zone).astimezone(UTC)


def question_about(budget: Budget, reason: str) -> NewQuestion:
    """The question to a person when the budget is used up."""
    limit = Amount(budget.tokens, budget.dollars)
    raising = _RAISE_BY + _only_exhausted(budget, limit).in_words()
    example = "5usd" if budget.tokens is None else "200k tokens"
    then = "Waiting work continues when you raise the budget"
    if budget.daily:
        then += ", or tomorrow"
    return NewQuestion(
        kind=QuestionKind.CHOICE,
        title=reason[:1].upper() + reason[1:],
        call_id=f"{BUDGET_CALL}{budget.key}:{budget.asks}",
        detail=f"{then}. To raise it by another amount, answer with one, such as {example}.",
        options=(
            Option(UNCOUNTED if budget.cannot_count else raising),
            Option(STOP, "The work stays paused; nothing is lost."),
        ),
        allow_free_text=True,
        outlives_turn=True,
        waits_forever=True,
    )


def after_answer(budget: Budget, answer: QuestionAnswer) -> Budget | None:
    """The budget after the answer; None if it was not raised.

    Raises `InvalidInput` if the answer contains no valid amount.
    """
    text = answer.choices[0] if answer.choices else (answer.text or "").strip()
    if answer.decision is Decision.DENY or text.lower() in (STOP, "stay paused"):
        return None
    if text == UNCOUNTED:
        return replace(budget, dollars=None, unpriced_turns=0, unpriced_model=None)
    return raised(budget, parse_amount(text.lower().removeprefix(_RAISE_BY)))


def raised(budget: Budget, by: Amount) -> Budget:
    """The budget raised by this amount above its limit, or above its use if that is higher."""
    if budget.cannot_count:
        if by.tokens is None:
            raise InvalidInput(
                unknown_price(budget.unpriced_model), hint="give tokens instead, like 200k tokens"
            )
        return replace(budget, dollars=None, tokens=budget.used_tokens + by.tokens)
    if (by.tokens is not None and budget.tokens is None) or (
        by.dollars is not None and budget.dollars is None
    ):
        is_in_dollars = budget.tokens is None
        unit = "dollars, like 2usd" if is_in_dollars else "tokens, like 200k tokens"
        other = "tokens" if is_in_dollars else "dollars"
        raise InvalidInput(f"this budget is not in {other}", hint=f"give {unit}")
    limit, changed = budget.limit, budget
    if by.tokens is not None and budget.tokens is not None:
        more = max(limit.tokens or 0, budget.used_tokens) + by.tokens - budget.tokens
        changed = replace(changed, extra_tokens=more)
    if by.dollars is not None and budget.dollars is not None:
        dollars = max(limit.dollars or 0.0, budget.used_dollars) + by.dollars - budget.dollars
        changed = replace(changed, extra_dollars=dollars)
    return changed


def amount_of(tokens: int | None, dollars: float | None) -> Amount:
    """The amount. Refuses zero and negative numbers."""
    if (tokens is not None and tokens <= 0) or (dollars is not None and dollars <= 0):
        raise InvalidInput("a budget must be more than zero", hint=AMOUNT_HINT)
    return Amount(tokens, dollars)


def parse_amount(text: str) -> Amount:
    """The amount in a text like `2usd`, `$2` or `500k tokens`."""
    match = _AMOUNT.fullmatch(text.strip().lower().lstrip("+").strip())
    if match is None:
        raise InvalidInput(f"{text!r} is not an amount", hint=AMOUNT_HINT)
    number = float(match["number"].replace(",", "."))
    unit, factor = match["unit"] or "", match["factor"]
    is_money = match["sign"] is not None or unit in ("usd", "$") or unit.startswith("dollar")
    if is_money and factor is None and not unit.startswith("token"):
        return Amount(dollars=_positive(number, text))
    if is_money or (not unit and factor is None):
        raise InvalidInput(f"{text!r} is not an amount of dollars or tokens", hint=AMOUNT_HINT)
    return Amount(tokens=int(_positive(number * _FACTORS[factor], text)))


def parse_budget(text: str) -> tuple[Amount, bool]:
    """The amount, and whether it is daily, as in `2usd/day`."""
    amount = _PER_DAY.sub("", text.strip().lower())
    return parse_amount(amount), amount != text.strip().lower()


def _positive(number: float, text: str) -> float:
    if number <= 0:
        raise InvalidInput(f"{text!r} is not more than zero", hint=AMOUNT_HINT)
    return number


def _only_exhausted(budget: Budget, limit: Amount) -> Amount:
    """The part of the allowance that is used up, and so has to be raised."""
    whole = budget.limit
    is_in_dollars = whole.dollars is not None and budget.used_dollars >= whole.dollars
    return Amount(dollars=limit.dollars) if is_in_dollars else Amount(tokens=limit.tokens)


def _name(budget: Budget) -> str:
    if budget.scope is Scope.USER:
        return "today's budget for all sessions"
    return f"the {budget.scope.value}'s budget" + (" for today" if budget.daily else "")


def _dollars(amount: float) -> str:
    return f"{_number(amount)} USD"


def _number(amount: float) -> str:
    """The number with cents, or more digits if it is small: 2, 1.20, 0.0042."""
    if amount == int(amount):
        return f"{int(amount)}"
    return f"{amount:.2f}" if amount >= 0.01 else f"{amount:.2g}"


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count:,} tokens"
