"""The rows of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import common
from benchmarks.common import VERDICTS


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of `recall`, and a peer's from the same run."""

    what: str
    value: float
    unit: str
    beside: str = ""
    """What it is compared with."""
    beside_value: float | None = None
    goal: str = ""
    is_met: bool | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.value / self.beside_value if self.beside_value else None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio}


HEADS = ("", "recall", "compared with", "", "ratio", "goal", "", "")
RIGHT = {1, 3, 4}


def table(rows: Sequence[Row]) -> str:
    return common.table(HEADS, [_cells(row) for row in rows], RIGHT)


def _cells(row: Row) -> tuple[str, ...]:
    beside = "" if row.beside_value is None else _with_unit(row.beside_value, row.unit)
    ratio = "" if row.ratio is None else f"{row.ratio:.2f} ×"
    value = _with_unit(row.value, row.unit)
    return (row.what, value, row.beside, beside, ratio, row.goal, VERDICTS[row.is_met], row.note)


def _with_unit(value: float, unit: str) -> str:
    digits = 2 if abs(value) < 10 and unit != "" else 1 if abs(value) < 100 and unit != "" else 0
    return f"{value:,.{digits}f} {unit}".strip()
