"""`alpha · vector + (1 − alpha) · words`, over normalised scores. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Key = TypeVar("Key")


def combined(
    words: Mapping[Key, float], vectors: Mapping[Key, float], alpha: float
) -> dict[Key, float]:
    """The combined score of each key, best first. A key missing on one side scores 0 there."""
    by_words, by_vectors = normalised_words(words), normalised_similarities(vectors)
    scores = {
        key: alpha * by_vectors.get(key, 0.0) + (1 - alpha) * by_words.get(key, 0.0)
        for key in {**by_words, **by_vectors}
    }
    return dict(sorted(scores.items(), key=lambda each: -each[1]))


def normalised_words(scores: Mapping[Key, float]) -> dict[Key, float]:
    """Shares of the best score, because scores of words have no upper limit."""
    best = max(scores.values(), default=0.0)
    return {key: score / best for key, score in scores.items()} if best > 0 else dict(scores)


def normalised_similarities(scores: Mapping[Key, float]) -> dict[Key, float]:
    """From 0 for the worst to 1 for the best: even unrelated texts are somewhat similar."""
    if not scores:
        return {}
    worst, best = min(scores.values()), max(scores.values())
    span = best - worst
    return {key: (score - worst) / span if span > 0 else 1.0 for key, score in scores.items()}
