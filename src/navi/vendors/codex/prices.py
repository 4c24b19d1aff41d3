"""The prices of OpenAI's models: https://developers.openai.com/api/docs/pricing"""

from __future__ import annotations

from navi.vendors.price import Price


def _price(input_price: float, output: float, cache_read: float) -> Price:
    """Writing the cache costs nothing extra with these models."""
    return Price(input_price, output, cache_read, input_price)


PRICES = {
    "gpt-4o": _price(2.50, 10, 1.25),
    "gpt-4o-mini": _price(0.15, 0.60, 0.075),
    "gpt-4.1": _price(2, 8, 0.50),
    "gpt-4.1-mini": _price(0.40, 1.60, 0.10),
    "gpt-4.1-nano": _price(0.10, 0.40, 0.025),
    "o1": _price(15, 60, 7.50),
    "o3": _price(2, 8, 0.50),
    "o3-mini": _price(1.10, 4.40, 0.55),
    "o4-mini": _price(1.10, 4.40, 0.275),
    "codex-mini": _price(1.50, 6, 0.375),
    "gpt-5": _price(1.25, 10, 0.125),
    "gpt-5-codex": _price(1.25, 10, 0.125),
    "gpt-5-mini": _price(0.25, 2, 0.025),
    "gpt-5-nano": _price(0.05, 0.40, 0.005),
    "gpt-5.1": _price(1.25, 10, 0.125),
    "gpt-5.1-codex": _price(1.25, 10, 0.125),
    "gpt-5.1-codex-mini": _price(0.25, 2, 0.025),
    "gpt-5.2": _price(1.75, 14, 0.175),
    "gpt-5.2-codex": _price(1.75, 14, 0.175),
    "gpt-5.3-codex": _price(1.75, 14, 0.175),
    "gpt-5.4": _price(2.50, 15, 0.25),
    "gpt-5.4-mini": _price(0.75, 4.50, 0.075),
    "gpt-5.4-nano": _price(0.20, 1.25, 0.02),
    "gpt-5.5": _price(5, 30, 0.50),
}
