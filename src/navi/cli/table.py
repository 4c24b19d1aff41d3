"""A table that fits the terminal: long cells are cut, the least important columns dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from navi.cli import cells

GAP = "  "
NARROWEST = 4


@dataclass(frozen=True, slots=True)
class Column:
    head: str
    is_number: bool = False
    """Numbers are right-aligned."""
    needed_width: int | None = None
    """Other columns are dropped to leave it this wide; None if it is never cut."""
    keeps_end: bool = False
    """Cut the beginning rather than the end, as for a path."""
    rank: int = 0
    """Columns with the highest rank are dropped first; those with 0 never."""
    style: str = ""


def fit(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int | None
) -> tuple[list[Column], list[list[str]], list[int]]:
    """The columns to show, their cells and their widths; every column if `room` is None."""
    kept = list(range(len(columns)))
    widths = [
        max(cells.width(cell) for cell in (column.head, *(row[index] for row in rows)))
        for index, column in enumerate(columns)
    ]
    if room is not None:
        while _total([_needed_width(columns[index], widths[index]) for index in kept]) > room:
            last = max(kept, key=lambda index: columns[index].rank)
            if columns[last].rank == 0:
                break
            kept.remove(last)
        _shrink(
            widths, [index for index in kept if columns[index].needed_width is not None], kept, room
        )
    visible = [columns[index] for index in kept]
    body = [
        [cells.cut(row[index], widths[index], keep_end=columns[index].keeps_end) for index in kept]
        for row in rows
    ]
    return visible, body, [widths[index] for index in kept]


def _shrink(widths: list[int], flexible: list[int], kept: list[int], room: int) -> None:
    """Repeatedly narrow the widest column that can be cut."""
    excess = _total([widths[index] for index in kept]) - room
    while excess > 0 and flexible:
        widest = max(flexible, key=lambda index: widths[index])
        if widths[widest] <= NARROWEST:
            return
        widths[widest] -= 1
        excess -= 1


def _needed_width(column: Column, full_width: int) -> int:
    return full_width if column.needed_width is None else min(full_width, column.needed_width)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)
