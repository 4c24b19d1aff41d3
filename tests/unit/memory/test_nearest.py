"""The nearest vectors are those that a comparison with all of them finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from navi.memory.semantic.vectors.nearest import CANDIDATES, Scope, nearest
from navi.memory.semantic.vectors.vector_writer import VectorWriter, new_places, quantized

DIMENSIONS = 100  # not a multiple of 64
COUNT = 3 * CANDIDATES


def test_the_best_of_many_are_found_and_their_similarity_is_right(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((COUNT, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    writer = VectorWriter.open(tmp_path / "vectors", "test", DIMENSIONS)
    places = new_places(COUNT)
    places["session"], places["idx"] = np.arange(COUNT) % 7, np.arange(COUNT)
    rows, places["scale"] = quantized(vectors)
    for part in (slice(0, 500), slice(500, COUNT)):
        writer.append(places[part], rows[part])
    hits = 0
    for target in range(0, COUNT, COUNT // 20):
        query = vectors[target] + 0.08 * random.standard_normal(DIMENSIONS)
        query = (query / np.linalg.norm(query)).astype(np.float32)
        exact = vectors @ query
        neighbours = nearest(writer.vectors, query, 10)
        assert (neighbours[0].idx, neighbours[0].session) == (target, target % 7)
        assert abs(neighbours[0].similarity - exact[target]) < 0.01
        hits += len({each.idx for each in neighbours} & set(np.argsort(-exact)[:10].tolist()))
        inside = nearest(writer.vectors, query, 10, Scope(sessions=frozenset({3})))
        assert {each.session for each in inside} <= {3}
    assert hits > 0.9 * 10 * 20
