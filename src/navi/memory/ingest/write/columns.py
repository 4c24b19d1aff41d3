"""Python values -> the buffers of an Arrow column, and back."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import accumulate, pairwise
from typing import cast

from navi.base.timestamps import microseconds

Column = tuple[bytes | None, ...]

TEXT, INTEGER, BIGINT, INSTANT, DOUBLE, BOOLEAN = "u", "i", "l", "tsu:", "g", "b"


def texts(values: Sequence[str | None]) -> Column:
    is_set = all(values)  # far quicker than looking for None, and nearly always enough
    try:
        encoded = [value.encode() if value else b"" for value in values]
    except UnicodeEncodeError:  # half of a surrogate pair, which no encoding can hold
        encoded = [value.encode("utf-8", "replace") if value else b"" for value in values]
    offsets = array("i", accumulate(map(len, encoded), initial=0)).tobytes()
    return None if is_set else _validity(values), offsets, b"".join(encoded)


def repeated(text: str, count: int) -> Column:
    data = text.encode()
    return None, array("i", range(0, len(data) * (count + 1), len(data))).tobytes(), data * count


def integers(values: Sequence[int | None]) -> Column:
    return _numbers("i", values)


def bigints(values: Sequence[int | None]) -> Column:
    return _numbers("q", values)


def doubles(values: Sequence[float]) -> Column:
    return None, array("d", values).tobytes()


def booleans(values: Sequence[bool]) -> Column:
    return None, _bits("1" if value else "0" for value in values)


def instants(values: Sequence[datetime | None]) -> Column:
    return bigints([None if value is None else microseconds(value) for value in values])


def read_texts(column: Column) -> Iterator[str | None]:
    return (None if each is None else each.decode() for each in read_bytes(column))


def read_bytes(column: Column) -> Iterator[bytes | None]:
    """The texts as UTF-8."""
    valid, offsets, data = column
    assert offsets is not None
    assert data is not None
    found = (data[start:end] for start, end in pairwise(array("i", offsets)))
    if valid is None:
        return found
    return (each if is_set else None for each, is_set in zip(found, _flags(valid), strict=False))


def read_integers(column: Column) -> Iterator[int | None]:
    return _read_numbers("i", column)


def read_bigints(column: Column) -> Iterator[int | None]:
    return _read_numbers("q", column)


def _read_numbers(kind: str, column: Column) -> Iterator[int | None]:
    valid, data = column
    assert data is not None
    numbers: array[int] = array(kind, data)
    if valid is None:
        return iter(numbers)
    flags = _flags(valid)
    return (number if next(flags) else None for number in numbers)


def _numbers(kind: str, values: Sequence[int | None]) -> Column:
    try:
        return None, array(kind, cast(Sequence[int], values)).tobytes()
    except TypeError:  # some are missing
        return _validity(values), array(kind, [value or 0 for value in values]).tobytes()


def _validity(values: Sequence[object]) -> bytes | None:
    if None not in values:
        return None
    return _bits("0" if value is None else "1" for value in values)


def _bits(digits: Iterable[str]) -> bytes:
    """A bit per digit, the first one lowest. One large number is the quickest way there."""
    text = "".join(digits)
    return int(text[::-1] or "0", 2).to_bytes(len(text) // 8 + 1, "little")


def _flags(bits: bytes) -> Iterator[bool]:
    text = bin(int.from_bytes(bits, "little") | 1 << (8 * len(bits)))[:2:-1]
    return (digit == "1" for digit in text)
