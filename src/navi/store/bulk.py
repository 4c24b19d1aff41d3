"""Many rows at once, without the price that SQLAlchemy asks for each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import Connection, Dialect, Table

_Bind = Callable[[Any], Any] | None


def insert_rows(connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Insert the rows, whose values are in the order of the table's columns."""
    if connection.dialect.name == "postgresql":
        _insert_document(connection, table, rows)
        return
    statement, binds = _plan(table, connection.dialect)
    columns = [
        values if bind is None else map(bind, values)
        for bind, values in zip(binds, zip(*rows, strict=True), strict=True)
    ]
    connection.exec_driver_sql(statement, list(zip(*columns, strict=True)))


def _insert_document(connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """As one JSON document, which the server takes apart far quicker than we could."""
    names = table.columns.keys()
    document = msgspec.json.encode([dict(zip(names, row, strict=True)) for row in rows])
    connection.exec_driver_sql(
        f"INSERT INTO {table.name} SELECT * FROM json_populate_recordset(NULL::{table.name}, %s)",
        (document.decode(),),
    )


@lru_cache
def _plan(table: Table, dialect: Dialect) -> tuple[str, tuple[_Bind, ...]]:
    names = ", ".join(f'"{column.name}"' for column in table.columns)
    marks = ", ".join("?" for _ in table.columns)
    binds = tuple(
        column.type.dialect_impl(dialect).bind_processor(dialect) for column in table.columns
    )
    return f"INSERT INTO {table.name} ({names}) VALUES ({marks})", binds
