"""What tokens cost, by the vendors' public price lists.

The lists are a snapshot of the month `AS_OF`. A model that is not on them has an unknown price,
never a guessed one. Left out on purpose: batch and subscription discounts, higher prices for very
long prompts, and the one-hour cache (transcripts do not always mark it, so all writes count at the
five-minute rate).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from navi.vendors.price import Price
from navi.vendors.registry import vendors

AS_OF = "2026-10"

# After a model's name: a date, `latest`, a platform's version or the context window's size.
_SUFFIX = re.compile(r"(?:-latest|[-@]20\d\d-?\d\d-?\d\d|-v\d+(?::\d+)?|\[1m\])$")
# Other platforms put the vendor first: `us.anthropic.claude-…`, `openai/gpt-5`.
_VENDOR = re.compile(r"^(?:.*/)?(?:(?:[a-z]{2,6}\.)?anthropic\.)?(?:(?:anthropic|openai):)?")


@cache
def prices() -> dict[str, Price]:
    """The prices of every vendor's models, by model name."""
    return {name: price for vendor in vendors().values() for name, price in vendor.prices().items()}


@lru_cache(maxsize=1_024)
def price_of(model: str | None) -> Price | None:
    """The price of a model by its id in transcripts; None if unknown."""
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
    """The cost in US dollars; None if the model's price is unknown."""
    price = price_of(model)
    if price is None:
        return None
    return price.cost(input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens)
