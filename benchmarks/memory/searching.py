"""Searching the open index, compared with DuckDB's full-text extension over the same rows."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from random import Random

from benchmarks.common import percentile
from benchmarks.memory.figures import Row
from benchmarks.memory.peers import peers
from benchmarks.memory.stage import Stage
from benchmarks.memory.words import vocabulary

QUERIES = 60
REPEATED = 3
MOST_MS = 30
TIMES_FASTER = 10
PEER = Path(__file__).with_name("duckdb_fts.py")
PEER_SECONDS = 540
LIMIT = 20
"""As many hits as `recall search` shows."""


def measure(stage: Stage) -> list[Row]:
    queries = _queries(stage)
    mine = _mine(stage, queries)
    theirs = _duckdb(stage, queries)
    rows = []
    for kind, taken in mine.items():
        p95 = percentile(taken, 0.95)
        peer = theirs.get(kind)
        rows.append(
            Row(
                f"search, warm, {kind}: p95 (p50 {percentile(taken, 0.5):.2f} ms)",
                p95,
                "ms",
                "DuckDB full-text" if peer else "(no DuckDB full-text)",
                percentile(peer, 0.95) if peer else None,
                f"< {MOST_MS} ms",
                p95 < MOST_MS,
                f"DuckDB's p50 {percentile(peer, 0.5):.1f} ms" if peer else "",
            )
        )
        if kind == "common" and peer:
            faster = percentile(peer, 0.5) / percentile(taken, 0.5)
            rows.append(
                Row(
                    "search, warm, common words: times as fast as DuckDB's full-text, p50",
                    faster,
                    "×",
                    goal=f"≥ {TIMES_FASTER} ×",
                    is_met=faster >= TIMES_FASTER,
                    note=""
                    if "making" not in theirs
                    else f"its index took {theirs['making'][0]:.0f} s",
                )
            )
    return rows


def _queries(stage: Stage) -> dict[str, list[str]]:
    words, random = vocabulary(stage.home.seed), Random("queries")
    phrases = [each for each in stage.home.truth.phrases if len(each.split()) == 3]
    return {
        "rare": random.sample(words[30_000:], QUERIES),
        "common": random.sample(words[:QUERIES], QUERIES),
        "multi-word": [" ".join(random.sample(words[20:1_000], 3)) for _ in range(QUERIES)],
        "phrase": [f'"{each}"' for each in random.sample(phrases, min(QUERIES, len(phrases)))],
    }


def _mine(stage: Stage, queries: dict[str, list[str]]) -> dict[str, list[float]]:
    from navi.memory.index_paths import IndexPaths
    from navi.memory.read.search import Search

    search = Search(IndexPaths(stage.database))
    for each in queries.values():
        for query in each:
            search.find(query, limit=LIMIT)
    return {
        kind: [_milliseconds(search, query) for _ in range(REPEATED) for query in each]
        for kind, each in queries.items()
    }


def _milliseconds(search: object, query: str) -> float:
    from navi.memory.read.search import Search

    assert isinstance(search, Search)
    started_at = time.perf_counter()
    search.find(query, limit=LIMIT)
    return (time.perf_counter() - started_at) * 1000


def _duckdb(stage: Stage, queries: dict[str, list[str]]) -> dict[str, Sequence[float]]:
    """The rows go through a Parquet file, because the peer's version can't read this database."""
    import duckdb

    rows = stage.data / "passages.parquet"
    with duckdb.connect(str(stage.database), read_only=True) as connection:
        connection.execute(
            "COPY (SELECT row_number() OVER () AS id, text FROM ("
            "SELECT content AS text FROM messages WHERE content IS NOT NULL UNION ALL "
            "SELECT thinking FROM messages WHERE thinking IS NOT NULL UNION ALL "
            "SELECT bash_command FROM tool_calls WHERE bash_command IS NOT NULL)) "
            f"TO '{rows}' (FORMAT parquet)"
        )
    sample = json.dumps({kind: each[:20] for kind, each in queries.items()})
    try:
        answer = subprocess.run(
            [peers() / "python", PEER, rows, str(LIMIT)],
            input=sample,
            capture_output=True,
            text=True,
            check=True,
            timeout=PEER_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {}
    finally:
        rows.unlink(missing_ok=True)
    return dict(json.loads(answer.stdout))
