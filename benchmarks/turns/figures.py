"""Percentiles, and the table that is printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Spread:
    """Milliseconds."""

    p50: float
    p99: float


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    store: str
    value: str = ""
    spread: Spread | None = None
    goal: str = ""
    is_met: bool | None = None
    beside: str = ""
    """The same thing without Navi, and how many times as much Navi takes."""


HEADS = ("", "store", "value", "p50 ms", "p99 ms", "goal", "", "beside it")
RIGHT = {2, 3, 4}


def spread_of(milliseconds: Sequence[float]) -> Spread:
    ordered = sorted(milliseconds)
    return Spread(_percentile(ordered, 0.50), _percentile(ordered, 0.99))


def middle(spreads: Sequence[Spread]) -> Spread:
    """The median of the rounds, for each percentile by itself."""
    return Spread(median(each.p50 for each in spreads), median(each.p99 for each in spreads))


def times(navi: float, bare: float, what: str) -> str:
    return f"{navi / bare:.1f} × {what} ({bare:.1f} ms)"


def share(navi: float, bare: float, what: str) -> str:
    return f"{navi / bare:.2f} × {what} ({bare:,.0f}/s)"


def table(rows: Sequence[Row]) -> str:
    cells = [HEADS, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(HEADS))]
    lines = []
    for number, line in enumerate(cells):
        parts = (
            cell.rjust(width) if column in RIGHT else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        lines.append("  ".join(parts).rstrip())
        if number == 0:
            lines.append("  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _cells(row: Row) -> tuple[str, ...]:
    p50 = p99 = ""
    if row.spread is not None:
        p50, p99 = f"{row.spread.p50:.1f}", f"{row.spread.p99:.1f}"
    verdict = {None: "", True: "met", False: "NOT MET"}[row.is_met]
    return (row.what, row.store, row.value, p50, p99, row.goal, verdict, row.beside)


def _percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed."""
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
