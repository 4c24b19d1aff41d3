"""Searching by words and by meaning, in an open index with a million random vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.common import percentile, say, work_folder
from benchmarks.memory.figures import Row
from benchmarks.memory.home import BUILD
from benchmarks.memory.stage import Stage
from benchmarks.memory.words import vocabulary

if TYPE_CHECKING:
    from navi.memory.semantic.vectors.vector_files import Array, Vectors

VECTORS = 1_000_000
DIMENSIONS = 384
CHUNK = 50_000
QUERIES = 40
REPEATED = 3
LIMIT = 20
MOST_MS = 80


def measure(stage: Stage) -> list[Row]:
    with work_folder(BUILD) as folder:
        vectors = _vectors(stage, folder)
        rows = [_nearest(vectors), *_searches(stage, vectors)]
    return rows


def _vectors(stage: Stage, folder: Path) -> Vectors:
    """Random vectors, each for a message in the index."""
    from navi.memory.semantic.vectors.vector_writer import VectorWriter

    writer = VectorWriter.open(folder / "vectors", "random", DIMENSIONS)
    for places, rows in _chunks(stage):
        writer.append(places, rows)
    say(f"{len(writer.vectors.places):,} vectors")
    return writer.vectors


def _chunks(stage: Stage) -> Iterator[tuple[Array, Array]]:
    import duckdb
    import numpy as np

    from navi.memory.read.full_text import number_of
    from navi.memory.semantic.vectors.vector_writer import new_places, quantized

    with duckdb.connect(str(stage.database), read_only=True) as connection:
        messages = connection.execute(
            "SELECT session_id, idx FROM messages WHERE content IS NOT NULL "
            "AND role IN ('user', 'assistant') ORDER BY ALL"
        ).fetchall()
    sessions = np.array([number_of(session) for session, _ in messages], np.uint64)
    numbers = np.array([idx for _, idx in messages], np.uint32)
    for first in range(0, VECTORS, CHUNK):
        chosen = np.arange(first, first + CHUNK) % len(messages)
        places = new_places(CHUNK)
        places["session"], places["idx"] = sessions[chosen], numbers[chosen]
        places["part"] = np.arange(first, first + CHUNK) // len(messages)
        rows, places["scale"] = quantized(_random(CHUNK, first))
        yield places, rows


def _random(count: int, seed: int) -> Array:
    import numpy as np

    values = np.random.default_rng(seed).standard_normal((count, DIMENSIONS), np.float32)
    lengths: Any = np.linalg.norm(values, axis=1, keepdims=True)
    vectors: Array = values / lengths
    return vectors


def _queries(vectors: Vectors) -> Array:
    """Vectors near some of the stored ones, because random vectors are near nothing."""
    import numpy as np

    rows = vectors.rows[:: len(vectors.rows) // QUERIES][:QUERIES].astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    near = rows + 0.5 * _random(len(rows), 7)
    result: Array = near / np.linalg.norm(near, axis=1, keepdims=True)
    return result


def _nearest(vectors: Vectors) -> Row:
    from navi.memory.semantic.hybrid_search import NEAREST
    from navi.memory.semantic.vectors.nearest import nearest

    queries = list(_queries(vectors))
    return _row(
        f"the nearest of {len(vectors.places):,} vectors",
        [_times(partial(nearest, vectors, vector, NEAREST)) for vector in queries * (REPEATED + 1)],
        len(queries),
    )


def _searches(stage: Stage, vectors: Vectors) -> list[Row]:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.semantic.hybrid_search import HybridSearch, Meaning

    near = list(_queries(vectors))
    words, random = vocabulary(stage.home.seed), Random("queries")
    kinds = {
        "common words": [" ".join(random.sample(words[:60], 2)) for _ in near],
        "a question of seven words": [" ".join(random.sample(words[5:2_000], 7)) for _ in near],
    }
    rows = []
    for kind, queries in kinds.items():
        vector_of = dict(zip(queries, near, strict=True))
        search = HybridSearch(
            IndexPaths(stage.database), Meaning(vectors, vector_of.__getitem__, 0.5)
        )
        what = f"search by words and meaning, {kind}"
        taken = [
            _times(partial(search.find, query, limit=LIMIT)) for query in queries * (REPEATED + 1)
        ]
        rows.append(_row(what, taken, len(queries), is_judged=True))
    return rows


def _times(work: Callable[[], object]) -> tuple[float, float]:
    """Elapsed time and processor time, in milliseconds."""
    started_at, cpu_before = time.perf_counter(), time.thread_time()
    work()
    return (time.perf_counter() - started_at) * 1000, (time.thread_time() - cpu_before) * 1000


def _row(
    what: str, taken: Sequence[tuple[float, float]], warming: int, *, is_judged: bool = False
) -> Row:
    """The first `warming` searches don't count, because they fill the system's cache."""
    clock, cpu = ([each[which] for each in taken[warming:]] for which in (0, 1))
    p95 = percentile(clock, 0.95)
    return Row(
        f"{what}: p95 (p50 {percentile(clock, 0.5):.1f} ms)",
        p95,
        "ms",
        goal=f"< {MOST_MS} ms" if is_judged else "",
        is_met=p95 < MOST_MS if is_judged else None,
        note=f"processor time: p95 {percentile(cpu, 0.95):.1f} ms",
    )
