"""Searches rows of a Parquet file with DuckDB's full-text extension, in the peers' environment.

Reads `{kind: [query]}` from standard input, writes `{kind: [milliseconds]}`. Words are split as in
recall: no stemming, no stop words, digits kept. There is no phrase search, so a row must only have
all the words of a phrase.
"""

import json
import sys
import tempfile
import time

import duckdb
import duckdb_extension_fts  # type: ignore[import-not-found]  # only in that environment


def main() -> None:
    rows, limit = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        connection = duckdb.connect(f"{folder}/peer.duckdb")
        load(connection)
        connection.execute(f"CREATE TABLE passages AS FROM read_parquet('{rows}')")
        started_at = time.perf_counter()
        connection.execute(
            "PRAGMA create_fts_index('passages', 'id', 'text', stemmer = 'none', "
            "stopwords = 'none', ignore = '[^a-z0-9]+')"
        )
        timings = {"making": [time.perf_counter() - started_at]}
        for kind, queries in json.load(sys.stdin).items():
            timings[kind] = [milliseconds(connection, kind, query, limit) for query in queries]
        print(json.dumps(timings))


def load(connection: duckdb.DuckDBPyConnection) -> None:
    package = duckdb_extension_fts.__path__[0]
    row = connection.execute(
        "SELECT file FROM glob(?)", [f"{package}/extensions/**/fts.duckdb_extension"]
    ).fetchone()
    assert row is not None
    connection.execute(f"LOAD '{row[0]}'")


def milliseconds(connection: duckdb.DuckDBPyConnection, kind: str, query: str, limit: int) -> float:
    needs_all = 1 if kind in ("multi-word", "phrase") else 0
    statement = (
        "SELECT id, score, text FROM (SELECT *, fts_main_passages.match_bm25(id, ?, "
        f"conjunctive := {needs_all}) AS score FROM passages) "
        f"WHERE score IS NOT NULL ORDER BY score DESC LIMIT {limit}"
    )
    connection.execute(statement, [query]).fetchall()  # warm
    started_at = time.perf_counter()
    connection.execute(statement, [query]).fetchall()
    return (time.perf_counter() - started_at) * 1000


if __name__ == "__main__":
    main()
