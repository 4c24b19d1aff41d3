"""The scheduler's interface to every kind of row that comes due."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from sqlalchemy import Connection, Executable, Select, literal_column, select, union_all

from navi.live.model.input import Input
from navi.live.store.damage import set_aside


@dataclass(frozen=True, slots=True)
class Claimed:
    """The result of one `claim`."""

    count: int
    """How many due rows were handled; if it equals the limit, there may be more."""
    inputs: Sequence[Input] = ()
    """The inputs admitted for them."""
    user_ids: Mapping[str, str] = field(default_factory=dict)
    """The user of each session that got an input, by session id."""


class DueKind(Protocol):
    """One kind of row that comes due, such as recalls."""

    name: str
    lead: timedelta
    """How long before its instant a row may be claimed."""
    instants: Select[tuple[datetime]]
    """The instants of unclaimed rows, earliest first."""

    def claim(self, connection: Connection, now: datetime, until: datetime, limit: int) -> Claimed:
        """Claim at most `limit` rows due by `until` and admit their inputs, all or none."""

    def first_due(self, connection: Connection, until: datetime) -> set_aside.Reference | None:
        """The row that `claim` would take first. Reads only ids, as other columns may be bad."""

    def give_up(self, connection: Connection, row_id: str, why: str) -> None:
        """End a row that can't be handled, so that it is never due again."""


def next_instants_query(kinds: Sequence[DueKind]) -> Executable:
    """One query for the next instant of every kind. Build it only once: building it is slow."""
    firsts = [kind.instants.limit(1).subquery() for kind in kinds]
    return union_all(
        *(select(literal_column(str(number)), *first.c) for number, first in enumerate(firsts))
    )


def next_of_each(connection: Connection, query: Executable) -> dict[int, datetime]:
    """The next instant of each kind, keyed by the kind's position in the `kinds` passed to
    `next_instants_query`."""
    rows: Any = connection.execute(query).all()
    return dict(rows)


def claim_one(connection: Connection, kind: DueKind, now: datetime, until: datetime) -> Claimed:
    """Claim a single row; if that fails, set the row aside with the reason.

    A `NaviError` or a transient database error is raised again instead.
    """
    try:
        with connection.begin_nested():
            return kind.claim(connection, now, until, limit=1)
    except Exception as error:
        if not set_aside.is_damage(connection, error):
            raise
        why = set_aside.reason_of(error)
    reference = kind.first_due(connection, until)
    if reference is None:
        return Claimed(0)
    set_aside.record(connection, kind.name, reference, why, now)
    kind.give_up(connection, reference.row_id, why)
    set_aside.show(connection, kind.name, reference, why, now)
    return Claimed(1)
