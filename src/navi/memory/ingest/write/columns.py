"""Packs Python values into columns, which DuckDB reads far faster than rows, and unpacks them.

A column is a tuple of two or three `bytes` objects, so it is cheap to send to another process and
to join with the same column of other files. Only a whole batch becomes an Arrow table, because each
table has a cost.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any, cast

import nanoarrow
from nanoarrow import c_array, c_array_from_buffers

from navi.base.timestamps import microseconds

Column = tuple[bytes, ...]
"""`(flags, numbers)` or `(flags, lengths, utf8)`. `flags` has one byte per value, 0 if the value is
missing; it is empty if no value is missing."""
Piece = tuple[int, list[Column]]
"""The number of rows, and their columns."""

_ARROW_TYPES = {
    "TEXT": nanoarrow.string(),
    "INTEGER": nanoarrow.int32(),
    "BIGINT": nanoarrow.int64(),
    "TIMESTAMP": nanoarrow.timestamp("us"),
    "DOUBLE": nanoarrow.float64(),
    "BOOLEAN": nanoarrow.int8(),  # DuckDB casts it; Arrow's own booleans are packed eight to a byte
}


def texts(values: Sequence[str | None]) -> Column:
    # Far faster than looking for None. An empty text fails this test too; then `_flags` decides.
    is_surely_complete = all(values)
    try:
        encoded = [value.encode() if value else b"" for value in values]
    except UnicodeEncodeError:  # half of a surrogate pair
        encoded = [value.encode("utf-8", "replace") if value else b"" for value in values]
    lengths = array("i", map(len, encoded)).tobytes()
    return b"" if is_surely_complete else _flags(values), lengths, b"".join(encoded)


def repeated(text: str, count: int) -> Column:
    data = text.encode()
    return b"", array("i", [len(data)]).tobytes() * count, data * count


def integers(values: Sequence[int | None]) -> Column:
    return _numbers("i", values)


def bigints(values: Sequence[int | None]) -> Column:
    return _numbers("q", values)


def doubles(values: Sequence[float]) -> Column:
    return b"", array("d", values).tobytes()


def booleans(values: Sequence[bool | None]) -> Column:
    return _flags(values), bytes(map(bool, values))


def instants(values: Sequence[datetime | None]) -> Column:
    return bigints([microseconds(value) for value in values])


def table(columns: Sequence[tuple[str, str]], pieces: Sequence[Piece]) -> nanoarrow.Array:
    """An Arrow table for DuckDB. `columns` are names and SQL types."""
    counts = [count for count, _ in pieces]
    parts_of_columns = zip(*(piece_columns for _, piece_columns in pieces), strict=True)
    arrays = [
        _array(kind, counts, parts)
        for (_, kind), parts in zip(columns, parts_of_columns, strict=True)
    ]
    row_type = nanoarrow.struct({name: _ARROW_TYPES[kind] for name, kind in columns})
    return nanoarrow.Array(c_array_from_buffers(row_type, sum(counts), [None], children=arrays))


def read_texts(column: Column) -> list[str]:
    return [each.decode() for each in read_bytes(column)]


def read_bytes(column: Column) -> list[bytes]:
    """The texts as UTF-8; a missing one is empty."""
    _, lengths, data = column
    sizes = array("i", lengths)
    return [data[end - size : end] for size, end in zip(sizes, accumulate(sizes), strict=True)]


def read_integers(column: Column) -> Iterable[int | None]:
    return _read_numbers("i", column)


def read_bigints(column: Column) -> Iterable[int | None]:
    return _read_numbers("q", column)


def _array(kind: str, counts: Sequence[int], parts: Sequence[Column]) -> Any:
    flags, *rest = zip(*parts, strict=True)
    validity = None
    if any(flags):
        all_flags = b"".join(
            each or b"\1" * count for each, count in zip(flags, counts, strict=True)
        )
        validity = c_array(list(map(bool, all_flags)), nanoarrow.bool_()).view().buffer(1)
    buffers: list[Any] = [b"".join(each) for each in rest]
    if kind == "TEXT":
        buffers[0] = array("i", accumulate(array("i", buffers[0]), initial=0))
    return c_array_from_buffers(_ARROW_TYPES[kind], sum(counts), [validity, *buffers])


def _numbers(typecode: str, values: Sequence[int | None]) -> Column:
    try:
        return b"", array(typecode, cast(Sequence[int], values)).tobytes()
    except TypeError:  # some are missing
        return _flags(values), array(typecode, [value or 0 for value in values]).tobytes()


def _read_numbers(typecode: str, column: Column) -> Iterable[int | None]:
    flags, data = column
    numbers: array[int] = array(typecode, data)
    if not flags:
        return numbers
    return [number if flag else None for number, flag in zip(numbers, flags, strict=True)]


def _flags(values: Sequence[object]) -> bytes:
    return bytes(value is not None for value in values) if None in values else b""
