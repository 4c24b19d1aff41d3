"""The rows of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks import common
from benchmarks.common import VERDICTS, percentile


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
    """The ratio to the same work without Navi, and that work's figure."""


HEADS = ("", "store", "value", "p50 ms", "p99 ms", "goal", "", "compared with")
RIGHT = {2, 3, 4}


def spread_of(milliseconds: Sequence[float]) -> Spread:
    return Spread(percentile(milliseconds, 0.50), percentile(milliseconds, 0.99))


def middle(spreads: Sequence[Spread]) -> Spread:
    """The median of the rounds, for each percentile by itself."""
    return Spread(median(each.p50 for each in spreads), median(each.p99 for each in spreads))


def times(navi: float, bare: float, what: str) -> str:
    return f"{navi / bare:.1f} × {what} ({bare:.1f} ms)"


def share(navi: float, bare: float, what: str) -> str:
    return f"{navi / bare:.2f} × {what} ({bare:,.0f}/s)"


def table(rows: Sequence[Row]) -> str:
    return common.table(HEADS, [_cells(row) for row in rows], RIGHT)


def _cells(row: Row) -> tuple[str, ...]:
    p50 = p99 = ""
    if row.spread is not None:
        p50, p99 = f"{row.spread.p50:.1f}", f"{row.spread.p99:.1f}"
    return (row.what, row.store, row.value, p50, p99, row.goal, VERDICTS[row.is_met], row.beside)
