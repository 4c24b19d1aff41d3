"""The prices of Anthropic's models: https://platform.claude.com/docs/en/about-claude/pricing"""

from __future__ import annotations

from navi.vendors.price import Price


def _price(input_price: float, output: float, cache_read: float | None = None) -> Price:
    """Writing the cache costs 1.25 times the input price; reading it, by default, a tenth."""
    return Price(input_price, output, cache_read or input_price / 10, input_price * 1.25)


PRICES = {
    "claude-3-haiku": Price(0.25, 1.25, 0.03, 0.30),
    "claude-3-opus": _price(15, 75),
    "claude-3-sonnet": _price(3, 15),
    "claude-3-5-haiku": _price(0.80, 4),
    "claude-3-5-sonnet": _price(3, 15),
    "claude-3-7-sonnet": _price(3, 15),
    "claude-sonnet-4": _price(3, 15),
    "claude-sonnet-4-0": _price(3, 15),
    "claude-sonnet-4-5": _price(3, 15),
    "claude-sonnet-4-6": _price(3, 15),
    "claude-sonnet-5": _price(2, 10),
    "claude-opus-4": _price(15, 75),
    "claude-opus-4-0": _price(15, 75),
    "claude-opus-4-1": _price(15, 75),
    "claude-opus-4-5": _price(5, 25),
    "claude-opus-4-6": _price(5, 25),
    "claude-opus-4-7": _price(5, 25),
    "claude-opus-4-8": _price(5, 25),
    "claude-opus-5": _price(5, 25),
    "claude-opus-5-5": _price(4, 20, cache_read=0.20),
    "claude-haiku-4-5": _price(1, 5),
    "claude-fable-5": _price(10, 50),
    "claude-fable-5-1": _price(10, 50, cache_read=0.25),
}
