"""When the next of several kinds of things is due, in one question."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Select, select

Earliest = Select[tuple[datetime]]
"""Asks for one moment, or None."""


def earliest_of_each(
    connection: Connection, kinds: Sequence[Earliest]
) -> Sequence[datetime | None]:
    asked = select(*(kind.scalar_subquery() for kind in kinds))
    return tuple(connection.execute(asked).one())
