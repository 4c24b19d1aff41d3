"""`alpha · vector + (1 − alpha) · words`, over normalised scores."""

from __future__ import annotations

import pytest

from navi.memory.semantic.scores import (
    combined,
    normalised_similarities,
    normalised_words,
)


def test_words_are_shares_of_the_best_and_similarities_span_0_to_1() -> None:
    assert normalised_words({"a": 12.0, "b": 3.0}) == {"a": 1.0, "b": 0.25}
    assert normalised_similarities({"a": 0.8, "b": 0.5, "c": 0.2}) == pytest.approx(
        {"a": 1.0, "b": 0.5, "c": 0.0}
    )


def test_alpha_is_what_vectors_count_and_words_count_the_rest() -> None:
    words, vectors = {"a": 10.0, "b": 5.0}, {"b": 0.9, "c": 0.4, "d": 0.1}
    scores = combined(words, vectors, 0.25)
    assert scores == pytest.approx(
        {"a": 0.75, "b": 0.25 * 1.0 + 0.75 * 0.5, "c": 0.25 * (0.3 / 0.8), "d": 0.0}
    )
    assert list(scores) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(("alpha", "best"), [(0.0, "words"), (1.0, "meaning")])
def test_at_its_ends_alpha_leaves_one_side_alone(alpha: float, best: str) -> None:
    words, vectors = {"words": 9.0, "meaning": 1.0}, {"meaning": 0.9, "words": 0.1}
    assert next(iter(combined(words, vectors, alpha))) == best


def test_a_side_that_found_nothing_or_one_thing_divides_by_nothing() -> None:
    assert combined({}, {}, 0.5) == {}
    assert combined({}, {"a": 0.3}, 0.5) == {"a": 0.5}
    assert combined({"a": 0.0}, {}, 0.5) == {"a": 0.0}
