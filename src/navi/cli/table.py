"""A table that fits the terminal: long cells are cut, the least important columns dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from navi.cli import cells

GAP = "  "
NARROWEST = 4


@dataclass(frozen=True, slots=True)
class Column:
    head: str
    is_number: bool = False
    """Numbers are right-aligned."""
    needed_width: int | None = None
    """The column is cut to this width before others are dropped; None if it is never cut."""
    keeps_end: bool = False
    """Cut the beginning rather than the end, as for a path."""
    rank: int = 0
    """Columns with the highest rank are dropped first; those with 0 never."""
    style: str = ""
    styles: Mapping[str, str] = field(default_factory=dict)
    """The styles of cells that begin with these words."""

    def style_of(self, cell: str) -> str:
        return self.styles.get(cell.partition(",")[0], self.style)


def fit(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], room: int | None
) -> tuple[list[Column], list[list[str]], list[int]]:
    """The columns to show, their cells and their widths; nothing is cut if `room` is None."""
    indexes = list(range(len(columns)))
    widths = [
        max(cells.width(cell) for cell in (column.head, *(row[index] for row in rows)))
        for index, column in enumerate(columns)
    ]
    if room is not None:
        while _total([_needed_width(columns[index], widths[index]) for index in indexes]) > room:
            least_important = max(indexes, key=lambda index: columns[index].rank)
            if columns[least_important].rank == 0:
                break
            indexes.remove(least_important)
        _shrink(
            widths,
            [index for index in indexes if columns[index].needed_width is not None],
            indexes,
            room,
        )
    visible = [columns[index] for index in indexes]
    body = [
        [
            cells.cut(row[index], widths[index], keep_end=columns[index].keeps_end)
            for index in indexes
        ]
        for row in rows
    ]
    return visible, body, [widths[index] for index in indexes]


def _shrink(widths: list[int], flexible: list[int], indexes: list[int], room: int) -> None:
    """Repeatedly narrow the widest column that can be cut."""
    excess = _total([widths[index] for index in indexes]) - room
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
