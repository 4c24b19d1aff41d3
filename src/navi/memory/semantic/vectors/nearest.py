"""Finds the passages whose vectors are nearest to a query's.

First the signs of all rows are compared with the query's, 64 dimensions at a time. Only the best
of them are then compared number by number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from navi.memory.semantic.vectors.vector_files import NO_TIME, Array, Vectors
from navi.memory.semantic.vectors.vector_writer import signs

CANDIDATES = 1000
"""How many rows to compare number by number."""
LEAST_SIMILARITY = 0.2
"""Less similar passages have nothing to do with the query."""
CHUNK_ROWS = 65_536
"""Small enough for a processor's cache."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which passages count; None stands for all of them."""

    sessions: frozenset[int] | None = None
    agent: int | None = None
    role: int | None = None
    since: int | None = None
    """In microseconds since 1970."""
    until: int | None = None
    """Exclusive."""


@dataclass(frozen=True, slots=True)
class Passage:
    session: int
    idx: int
    part: int
    similarity: float
    """The cosine of the angle between the two vectors."""


EVERYWHERE = Scope()


def nearest(vectors: Vectors, query: Array, limit: int, scope: Scope = EVERYWHERE) -> list[Passage]:
    """The nearest passages, best first, of the rows in `scope`."""
    chosen = _rows_in(vectors, scope)
    candidates = _candidates(vectors, query, chosen)
    numbers = vectors.rows[candidates].astype(np.float32)
    places = vectors.places[candidates]
    similarities = (numbers @ query.astype(np.float32)) * places["scale"]
    best = np.argsort(-similarities, kind="stable")[:limit]
    return [
        Passage(int(place["session"]), int(place["idx"]), int(place["part"]), float(similarity))
        for place, similarity in zip(places[best], similarities[best], strict=True)
        if similarity >= LEAST_SIMILARITY
    ]


def _rows_in(vectors: Vectors, scope: Scope) -> Array | None:
    """The numbers of the rows that count; None for all."""
    if scope == EVERYWHERE and not len(vectors.dead):
        return None
    places = vectors.places
    included = ~vectors.is_dead
    if scope.sessions is not None:
        included &= np.isin(places["session"], np.array(sorted(scope.sessions), np.uint64))
    if scope.agent is not None:
        included &= places["agent"] == scope.agent
    if scope.role is not None:
        included &= places["role"] == scope.role
    if scope.since is not None or scope.until is not None:
        included &= places["at"] != NO_TIME
    if scope.since is not None:
        included &= places["at"] >= scope.since
    if scope.until is not None:
        included &= places["at"] < scope.until
    return np.flatnonzero(included)


def _candidates(vectors: Vectors, query: Array, chosen: Array | None) -> Array:
    """The numbers of the rows whose signs differ least from the query's."""
    count = len(vectors.places) if chosen is None else len(chosen)
    if count <= CANDIDATES:
        return np.arange(count) if chosen is None else chosen
    pattern = signs(query[None, :]).view("<u8")[0]
    distances = np.empty(count, np.uint16)
    for start in range(0, count, CHUNK_ROWS):
        part = slice(start, min(start + CHUNK_ROWS, count))
        bits = vectors.bits[part] if chosen is None else vectors.bits[chosen[part]]
        distances[part] = _sums(np.bitwise_count(bits ^ pattern))
    # There are few different distances, so counting them is quicker than sorting the rows.
    counts = np.cumsum(np.bincount(distances))
    best = np.flatnonzero(distances <= np.searchsorted(counts, CANDIDATES))
    return best if chosen is None else chosen[best]


def _sums(counts: Array) -> Array:
    """The sum of each row. `numpy.sum` is half as fast for rows this short."""
    sums = counts[:, 0].astype(np.uint16)
    for column in range(1, counts.shape[1]):
        sums += counts[:, column]
    return sums
