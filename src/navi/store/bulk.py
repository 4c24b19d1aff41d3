"""Many rows at once, without the price that SQLAlchemy asks for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Table

_Bind = Callable[[Any], Any] | None


def insert_rows(connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Insert the rows, whose values are in the order of the table's columns."""
    statement, binds = _plan(table, connection.dialect)
    columns = [
        list(values) if bind is None else [bind(value) for value in values]
        for bind, values in zip(binds, zip(*rows, strict=True), strict=True)
    ]
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(statement, tuple(columns))
    else:
        connection.exec_driver_sql(statement, list(zip(*columns, strict=True)))


@lru_cache
def _plan(table: Table, dialect: Dialect) -> tuple[str, tuple[_Bind, ...]]:
    columns = list(table.columns)
    names = ", ".join(dialect.identifier_preparer.format_column(column) for column in columns)
    binds = tuple(column.type.dialect_impl(dialect).bind_processor(dialect) for column in columns)
    if dialect.name == "postgresql":
        # One array a column: one statement and one answer, however many rows.
        arrays = ", ".join(f"%s::{column.type.compile(dialect)}[]" for column in columns)
        statement = f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({arrays})"
    else:
        marks = ", ".join("?" for _ in columns)
        statement = f"INSERT INTO {table.name} ({names}) VALUES ({marks})"
    return statement, binds
