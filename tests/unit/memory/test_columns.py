"""Columns go to DuckDB and come back as they were."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.base.timestamps import from_microseconds
from navi.memory.ingest.write import columns

TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=20)), min_size=1, max_size=50)
INTEGERS = st.integers(-(2**31), 2**31 - 1)
MOMENTS = st.datetimes(timezones=st.just(UTC))


@cache
def opened() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


def through_duckdb(kind: str, column: columns.Column, rows: int) -> list[object]:
    """Join with itself, and with a column without nulls."""
    full = columns.repeated("x", 1) if kind == "TEXT" else columns.bigints([1])
    if kind in ("INTEGER", "BOOLEAN"):
        full = columns.integers([1]) if kind == "INTEGER" else columns.booleans([True])
    pieces = [(rows, [column]), (1, [full]), (rows, [column])]
    connection = opened()
    connection.register("incoming", columns.table([("value", kind)], pieces))
    stored = connection.execute(f"SELECT value::{kind} FROM incoming").fetchall()
    connection.unregister("incoming")
    values = [row[0] for row in stored]
    assert values[:rows] == values[rows + 1 :]
    assert values[rows] is not None
    return values[:rows]


@settings(deadline=None)
@given(TEXTS)
def test_texts_with_nothing_between_them(values: list[str | None]) -> None:
    column = columns.texts(values)
    assert columns.read_texts(column) == [value or "" for value in values]
    assert through_duckdb("TEXT", column, len(values)) == values


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), INTEGERS), min_size=1, max_size=50))
def test_numbers_with_nothing_between_them(values: list[int | None]) -> None:
    column = columns.integers(values)
    assert list(columns.read_integers(column)) == values
    assert through_duckdb("INTEGER", column, len(values)) == values


@settings(deadline=None)
@given(st.lists(st.one_of(st.none(), MOMENTS), min_size=1, max_size=20))
def test_instants_survive_the_database_to_the_microsecond(values: list[datetime | None]) -> None:
    column = columns.instants(values)
    stored = through_duckdb("TIMESTAMP", column, len(values))
    assert stored == [None if value is None else value.replace(tzinfo=None) for value in values]
    numbers = columns.read_bigints(column)
    assert [None if n is None else from_microseconds(n) for n in numbers] == values


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=50))
def test_booleans_survive_the_database(values: list[bool]) -> None:
    assert through_duckdb("BOOLEAN", columns.booleans(values), len(values)) == values


def test_half_a_surrogate_pair_becomes_a_question_mark() -> None:
    column = columns.texts(["a\ud800b", "c"])
    assert columns.read_texts(column) == ["a?b", "c"]
