"""What tokens cost, and that nothing is guessed."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navi.memory.prices import AS_OF, cost_of, price_of, prices


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-sonnet-4-20250514", "claude-sonnet-4"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet"),
        ("claude-sonnet-4-6[1m]", "claude-sonnet-4-6"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("claude-opus-4-1@20250805", "claude-opus-4-1"),
        ("anthropic/claude-haiku-4-5", "claude-haiku-4-5"),
        ("anthropic:claude-haiku-4-5", "claude-haiku-4-5"),
        ("gpt-5-codex", "gpt-5-codex"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("openai/gpt-5-mini-2025-08-07", "gpt-5-mini"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("codex-mini-latest", "codex-mini"),
    ],
)
def test_a_model_is_found_by_the_id_that_transcripts_hold(model: str, name: str) -> None:
    assert price_of(model) == prices()[name]


@pytest.mark.parametrize(
    "model",
    [
        *(None, "", "<synthetic>", "scripted", "gpt-5.9", "claude-sonnet-4-9", "claude-opus-40"),
        *("my-gpt-5", "claude", "gpt-5-20", "claude-opus-5-5-fast", "gpt-5-codex-max-ultra"),
    ],
)
def test_an_unknown_model_has_no_price(model: str | None) -> None:
    assert price_of(model) is None
    assert cost_of(model, 1_000, 1_000) is None


def test_every_kind_of_token_has_its_own_price() -> None:
    million = 1_000_000
    assert cost_of("claude-sonnet-4-5", million, 0) == pytest.approx(3.0)
    assert cost_of("claude-sonnet-4-5", 0, million) == pytest.approx(15.0)
    assert cost_of("claude-sonnet-4-5", 0, 0, million) == pytest.approx(0.30)
    assert cost_of("claude-sonnet-4-5", 0, 0, 0, million) == pytest.approx(3.75)
    assert cost_of("gpt-5", million, million, million) == pytest.approx(11.375)
    assert cost_of("claude-opus-5-5", million, million, million, million) == pytest.approx(29.20)


def test_the_table_says_of_when_it_is_and_its_prices_make_sense() -> None:
    assert re.fullmatch(r"20\d\d-\d\d", AS_OF)
    for name, price in prices().items():
        assert 0 < price.cache_read < price.input <= price.cache_creation <= price.output, name


@given(st.text(max_size=40) | st.sampled_from(sorted(prices())).map(lambda name: name + "-x"))
def test_any_text_for_a_model_is_answered(model: str) -> None:
    price_of(model)
