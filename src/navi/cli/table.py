"""A table that fits the terminal: long cells are cut, the least important columns dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from navi.cli import cells

GAP = "  "


@dataclass(frozen=True, slots=True)
class Column:
    head: str
    is_number: bool = False
    """Numbers are right-aligned."""
    least: int | None = None
    """The narrowest width it may be cut to; None if it is never cut."""
    keeps_end: bool = False
    """Cut the beginning rather than the end, as for a path."""
    rank: int = 0
    """Columns with the highest rank are dropped first; those with 0 never."""
    style: str = ""


def fit(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int | None
) -> tuple[list[Column], list[list[str]], list[int]]:
    """The visible columns, their cells and their widths; all of them if `room` is None."""
    kept = list(range(len(columns)))
    widths = [
        max(cells.width(cell) for cell in (column.head, *(row[place] for row in rows)))
        for place, column in enumerate(columns)
    ]
    if room is not None:
        while _total([_least(columns[place], widths[place]) for place in kept]) > room:
            last = max(kept, key=lambda place: columns[place].rank)
            if columns[last].rank == 0:
                break
            kept.remove(last)
        _shrink(widths, [place for place in kept if columns[place].least is not None], kept, room)
    visible = [columns[place] for place in kept]
    body = [
        [cells.cut(row[place], widths[place], keep_end=columns[place].keeps_end) for place in kept]
        for row in rows
    ]
    return visible, body, [widths[place] for place in kept]


def _shrink(widths: list[int], flexible: list[int], kept: list[int], room: int) -> None:
    """Repeatedly narrow the widest column that can be cut."""
    excess = _total([widths[place] for place in kept]) - room
    while excess > 0 and flexible:
        widest = max(flexible, key=lambda place: widths[place])
        if widths[widest] <= 4:
            return
        widths[widest] -= 1
        excess -= 1


def _least(column: Column, natural: int) -> int:
    return natural if column.least is None else min(natural, column.least)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)
