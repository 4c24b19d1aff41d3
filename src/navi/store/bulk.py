"""Many rows at once, without the price that SQLAlchemy asks for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import JSON, Boolean, Connection, Table, TextClause, Update, text
from sqlalchemy.exc import DBAPIError

from navi.store.tables import Instant, instant_text

ADDRESS = {"sqlite": "rowid", "postgresql": "ctid"}
"""What a dialect calls the place of a row. To go there spares the way through an index, and it is
the right place as long as nobody else can change the row."""

FEW = 4
"""So many rows PostgreSQL takes more quickly by a statement that it has prepared."""

_COPY_ESCAPES = (("\\", r"\\"), ("\n", r"\n"), ("\r", r"\r"), ("\t", r"\t"))
_Encode = Callable[[Any], Any] | None


def among(column: str, type_: str = "text") -> dict[str, TextClause]:
    """By dialect, the condition that the column is one of the `values` of the same name.

    All values are one parameter, so that the statement is prepared and planned only once.
    """
    return {
        "sqlite": text(f"{column} IN (SELECT value FROM json_each(:among))"),
        "postgresql": text(f"{column} = ANY(CAST(:among AS {type_}[]))"),
    }


def at_address(table: Table) -> dict[str, TextClause]:
    """`among`, for the addresses of rows of the table."""
    return {
        kind: among(f"{table.name}.{address}", "tid")[kind] for kind, address in ADDRESS.items()
    }


def values(connection: Connection, found: Sequence[Any]) -> str:
    """The parameter `among`, of ids or addresses: they need no escapes."""
    if connection.dialect.name == "postgresql":
        return '{"' + '","'.join(found) + '"}'
    return msgspec.json.encode(found).decode()


def update_at(
    connection: Connection,
    statements: Mapping[str, Update],
    addresses: Sequence[Any],
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Change the rows at these addresses, all of them; the transaction has locked them."""
    asked = {**(parameters or {}), "among": values(connection, addresses)}
    changed = connection.execute(statements[connection.dialect.name], asked).rowcount
    if changed != len(addresses):
        raise AssertionError(f"{len(addresses)} rows were locked, {changed} were still there")


def insert_rows(connection: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
    """Insert the rows, whose values are in the order of the table's columns."""
    if connection.dialect.name == "postgresql" and len(rows) <= FEW:
        connection.exec_driver_sql(*few_inserted(table, rows))
        return
    names, columns = _filled(table, rows)
    if connection.dialect.name == "postgresql":
        lines = map("\t".join, zip(*map(_copy_texts, columns), strict=True))
        statement = f"COPY {table.name} ({', '.join(names)}) FROM STDIN"
        _copy(connection, statement, "\n".join(lines))
    else:
        marks = ", ".join("?" * len(names))
        statement = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})"
        connection.exec_driver_sql(statement, list(zip(*columns, strict=True)))


class Computed(str):
    """A value that PostgreSQL computes: an expression."""


def few_inserted(table: Table, rows: Sequence[Sequence[Any]]) -> tuple[str, tuple[Any, ...]]:
    """PostgreSQL's statement that inserts a few rows, and its parameters."""
    names, columns = _filled(table, rows)
    given = list(zip(*columns, strict=True))
    marks = [
        ", ".join(each if isinstance(each, Computed) else "%s" for each in row) for row in given
    ]
    # As texts, like COPY's: PostgreSQL reads each as its column wants it.
    texts = tuple(
        None if each is None else str(each)
        for row in given
        for each in row
        if not isinstance(each, Computed)
    )
    together = ", ".join(f"({each})" for each in marks)
    return f"INSERT INTO {table.name} ({', '.join(names)}) VALUES {together}", texts


def _filled(
    table: Table, rows: Sequence[Sequence[Any]]
) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
    """The columns that have a value in any of the rows, encoded."""
    names: list[str] = []
    columns: list[Sequence[Any]] = []
    for (name, encode), found in zip(_columns(table), zip(*rows, strict=True), strict=True):
        # Drivers take longer over a None than over a text.
        if found.count(None) < len(rows):
            names.append(name)
            columns.append(found if encode is None else list(map(encode, found)))
    return names, columns


def _copy_texts(column: Sequence[Any]) -> list[str]:
    """The values as PostgreSQL's COPY writes them."""
    is_full = None not in column
    texts = list(map(str, column))
    together = "".join(texts)
    for character, escape in _COPY_ESCAPES:
        if character in together:
            texts = [each.replace(character, escape) for each in texts]
    if is_full:
        return texts
    return [r"\N" if value is None else each for value, each in zip(column, texts, strict=True)]


def _copy(connection: Connection, statement: str, rows: str) -> None:
    """PostgreSQL takes rows in no quicker way than this. SQLAlchemy doesn't know it, so what goes
    wrong is told as SQLAlchemy would."""
    dialect = connection.dialect
    driver: Any = connection.connection.driver_connection
    cursor = driver.cursor()
    try:
        with cursor.copy(statement) as copy:
            copy.write(rows)
    except dialect.loaded_dbapi.Error as error:
        is_lost = dialect.is_disconnect(error, driver, cursor)
        if is_lost:
            connection.invalidate(error)
        raise DBAPIError.instance(
            statement,
            None,
            error,
            dialect.loaded_dbapi.Error,
            connection_invalidated=is_lost,
            dialect=dialect,
        ) from error
    finally:
        cursor.close()


@lru_cache
def _columns(table: Table) -> tuple[tuple[str, _Encode], ...]:
    return tuple((f'"{column.name}"', _encoder(column.type)) for column in table.columns)


def _encoder(type_: Any) -> _Encode:
    """To what drivers know without asking."""
    match type_:
        case JSON():
            return _json_text
        case Instant():
            return instant_text
        case Boolean():
            return int
    return None


def _json_text(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
