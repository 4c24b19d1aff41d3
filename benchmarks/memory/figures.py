"""Percentiles, and the table that is printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A figure, and the same thing by somebody else in the same run."""

    what: str
    value: float
    unit: str
    beside: str = ""
    """Whose figure stands beside it."""
    beside_value: float | None = None
    goal: str = ""
    is_met: bool | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.value / self.beside_value if self.beside_value else None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


HEADS = ("", "recall", "beside it", "", "ratio", "goal", "", "")
RIGHT = {1, 3, 4}


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


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
    verdict = {None: "", True: "met", False: "NOT MET"}[row.is_met]
    beside = "" if row.beside_value is None else _shown(row.beside_value, row.unit)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} ×"
    shown = _shown(row.value, row.unit)
    return (row.what, shown, row.beside, beside, ratio, row.goal, verdict, row.note)


def _shown(value: float, unit: str) -> str:
    digits = 2 if abs(value) < 10 and unit != "" else 1 if abs(value) < 100 and unit != "" else 0
    return f"{value:,.{digits}f} {unit}".strip()
