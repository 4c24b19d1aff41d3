"""What tokens cost, by the vendors' public price lists.

A price list is a snapshot: `AS_OF` says of when, and a model that is not in it has no price here,
which is said as unknown rather than guessed. Left out on purpose: discounts of batches and of
subscriptions, dearer tiers for very long prompts, and the one-hour cache (writes are counted at the
five-minute rate, since transcripts do not always tell them apart).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from navi.vendors.price import Price
from navi.vendors.registry import vendors

AS_OF = "2026-10"


# A date, `latest`, a platform's version, or the size of the context window: not part of the name.
_SUFFIX = re.compile(r"(?:-latest|[-@]20\d\d-?\d\d-?\d\d|-v\d+(?::\d+)?|\[1m\])$")
# Where other platforms say whose model it is: `us.anthropic.claude-…`, `openai/gpt-5`.
_VENDOR = re.compile(r"^(?:.*/)?(?:(?:[a-z]{2,6}\.)?anthropic\.)?(?:(?:anthropic|openai):)?")


@cache
def prices() -> dict[str, Price]:
    """Of every vendor's models, by their names."""
    return {name: price for each in vendors().values() for name, price in each.prices().items()}


@lru_cache(maxsize=1_024)
def price_of(model: str | None) -> Price | None:
    """The price of a model by the id that transcripts hold; None if it is not known."""
    if not model:
        return None
    name = _VENDOR.sub("", model.strip().lower(), count=1)
    while name not in prices():
        shorter = _SUFFIX.sub("", name)
        if shorter == name:
            return None
        name = shorter
    return prices()[name]


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
