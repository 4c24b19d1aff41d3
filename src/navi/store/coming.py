"""When the next few things of several kinds are due, in one question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Executable, Select, literal_column, select, union_all


@dataclass(frozen=True, slots=True)
class Coming:
    """Asks when things of one kind are due."""

    moments: Select[tuple[datetime]]
    """The earliest first."""
    most: int = 1
    """So many are asked for at once."""


def question(kinds: Sequence[Coming]) -> Executable:
    """Made once: putting it together takes longer than the answer."""
    limited = [kind.moments.limit(kind.most).subquery() for kind in kinds]
    return union_all(
        *(select(literal_column(str(number)), *part.c) for number, part in enumerate(limited))
    )


def coming_of_each(
    connection: Connection, asked: Executable, kinds: Sequence[Coming]
) -> list[list[datetime]]:
    """The next moments of each kind, in order."""
    found: list[list[datetime]] = [[] for _ in kinds]
    rows: Any = connection.execute(asked)
    for number, moment in rows:
        found[number].append(moment)
    return [sorted(moments) for moments in found]
