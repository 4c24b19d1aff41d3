"""What tokens cost, by the vendors' public price lists.

A price list is a snapshot: `AS_OF` says of when, and a model that is not in it has no price here,
which is said as unknown rather than guessed. Left out on purpose: discounts of batches and of
subscriptions, dearer tiers for very long prompts, and the one-hour cache (writes are counted at the
five-minute rate, since transcripts do not always tell them apart).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

AS_OF = "2026-10"
MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float

    def cost(
        self,
        input_tokens: int,
        output_tokens: int,
        cache_read_tokens: int = 0,
        cache_creation_tokens: int = 0,
    ) -> float:
        """In US dollars. `input_tokens` are those that came from no cache."""
        return (
            input_tokens * self.input
            + output_tokens * self.output
            + cache_read_tokens * self.cache_read
            + cache_creation_tokens * self.cache_write
        ) / MILLION


def _anthropic(input_price: float, output: float, cache_read: float | None = None) -> Price:
    """A cache is written at 1.25 times the price of input, and read at a tenth unless said."""
    return Price(input_price, output, cache_read or input_price / 10, input_price * 1.25)


def _openai(input_price: float, output: float, cache_read: float) -> Price:
    """Writing the cache costs nothing extra with these models."""
    return Price(input_price, output, cache_read, input_price)


# https://platform.claude.com/docs/en/about-claude/pricing
# https://developers.openai.com/api/docs/pricing
PRICES: dict[str, Price] = {
    "claude-3-haiku": Price(0.25, 1.25, 0.03, 0.30),
    "claude-3-opus": _anthropic(15, 75),
    "claude-3-sonnet": _anthropic(3, 15),
    "claude-3-5-haiku": _anthropic(0.80, 4),
    "claude-3-5-sonnet": _anthropic(3, 15),
    "claude-3-7-sonnet": _anthropic(3, 15),
    "claude-sonnet-4": _anthropic(3, 15),
    "claude-sonnet-4-5": _anthropic(3, 15),
    "claude-sonnet-4-6": _anthropic(3, 15),
    "claude-sonnet-5": _anthropic(2, 10),
    "claude-opus-4": _anthropic(15, 75),
    "claude-opus-4-1": _anthropic(15, 75),
    "claude-opus-4-5": _anthropic(5, 25),
    "claude-opus-4-6": _anthropic(5, 25),
    "claude-opus-4-7": _anthropic(5, 25),
    "claude-opus-4-8": _anthropic(5, 25),
    "claude-opus-5": _anthropic(5, 25),
    "claude-opus-5-5": _anthropic(4, 20, cache_read=0.20),
    "claude-haiku-4-5": _anthropic(1, 5),
    "claude-fable-5": _anthropic(10, 50),
    "claude-fable-5-1": _anthropic(10, 50, cache_read=0.25),
    "gpt-4o": _openai(2.50, 10, 1.25),
    "gpt-4o-mini": _openai(0.15, 0.60, 0.075),
    "gpt-4.1": _openai(2, 8, 0.50),
    "gpt-4.1-mini": _openai(0.40, 1.60, 0.10),
    "gpt-4.1-nano": _openai(0.10, 0.40, 0.025),
    "o1": _openai(15, 60, 7.50),
    "o3": _openai(2, 8, 0.50),
    "o3-mini": _openai(1.10, 4.40, 0.55),
    "o4-mini": _openai(1.10, 4.40, 0.275),
    "codex-mini": _openai(1.50, 6, 0.375),
    "gpt-5": _openai(1.25, 10, 0.125),
    "gpt-5-codex": _openai(1.25, 10, 0.125),
    "gpt-5-mini": _openai(0.25, 2, 0.025),
    "gpt-5-nano": _openai(0.05, 0.40, 0.005),
    "gpt-5.1": _openai(1.25, 10, 0.125),
    "gpt-5.1-codex": _openai(1.25, 10, 0.125),
    "gpt-5.1-codex-mini": _openai(0.25, 2, 0.025),
    "gpt-5.2": _openai(1.75, 14, 0.175),
    "gpt-5.2-codex": _openai(1.75, 14, 0.175),
    "gpt-5.3-codex": _openai(1.75, 14, 0.175),
    "gpt-5.4": _openai(2.50, 15, 0.25),
    "gpt-5.4-mini": _openai(0.75, 4.50, 0.075),
    "gpt-5.4-nano": _openai(0.20, 1.25, 0.02),
    "gpt-5.5": _openai(5, 30, 0.50),
}

# A date, `latest`, a platform's version, or the size of the context window: not part of the name.
_SUFFIX = re.compile(r"(?:-latest|[-@]20\d\d-?\d\d-?\d\d|-v\d+(?::\d+)?|\[1m\])$")
# Where other platforms say whose model it is: `us.anthropic.claude-…`, `openai/gpt-5`.
_VENDOR = re.compile(r"^(?:.*/)?(?:(?:[a-z]{2,6}\.)?anthropic\.)?(?:(?:anthropic|openai):)?")
# Earlier models carry the version in front, later ones behind: one of them has both spellings.
_ALIASES = {"claude-opus-4-0": "claude-opus-4", "claude-sonnet-4-0": "claude-sonnet-4"}


@lru_cache(maxsize=1_024)
def price_of(model: str | None) -> Price | None:
    """The price of a model by the id that transcripts hold; None if it is not known."""
    if not model:
        return None
    name = _VENDOR.sub("", model.strip().lower(), count=1)
    while name not in PRICES:
        name = _ALIASES.get(name, name)
        shorter = _SUFFIX.sub("", name)
        if shorter == name:
            return PRICES.get(name)
        name = shorter
    return PRICES[name]


def cost_of(
    model: str | None,
    input_tokens: int,
    output_tokens: int,
    cache_read_tokens: int = 0,
    cache_creation_tokens: int = 0,
) -> float | None:
    """What these tokens cost in US dollars; None if the model's price is not known."""
    price = price_of(model)
    if price is None:
        return None
    return price.cost(input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens)
