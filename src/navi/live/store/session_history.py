"""Reads sessions for the memory: which have changed, and the tokens that their turns used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

from navi.base.errors import StoreUnusable
from navi.live.model.event import Usage
from navi.live.store.engine.connection import open_for_reading, public_address
from navi.live.store.engine.tables import lanes, sessions, turns


class Extent(NamedTuple):
    """Shows the memory whether a session has changed: if so, one of these values differs."""

    session_id: str
    updated_at: datetime
    next_idx: int
    """The index of its next message. Indexes of messages may have gaps."""


class PastTurn(NamedTuple):
    """A turn, how it ended and the tokens that it has used."""

    turn_id: str
    started_at: datetime
    is_over: bool
    usage: Usage
    origin: str
    outcome: str | None
    error: str | None


@contextmanager
def reading(url: str) -> Iterator[Connection]:
    """A connection to the store in a read-only transaction."""
    engine = open_for_reading(url)
    try:
        with engine.connect() as connection, connection.begin():
            yield connection
    except SQLAlchemyError as error:
        raise _unusable(url, error) from error
    finally:
        engine.dispose()


def extents(connection: Connection, without_drivers: Sequence[str]) -> list[Extent]:
    """Every session that has messages, except those of the excluded drivers."""
    query = (
        select(sessions.c.id, sessions.c.updated_at, lanes.c.next_idx)
        .join(lanes, lanes.c.session_id == sessions.c.id)
        .where(lanes.c.next_idx > 0, sessions.c.driver.not_in(without_drivers))
    )
    return [Extent(*row) for row in connection.execute(query)]


def next_idx(connection: Connection, session_id: str) -> int:
    """The index of the session's next message; 0 if there is no such session."""
    query = select(lanes.c.next_idx).where(lanes.c.session_id == session_id)
    return connection.execute(query).scalar() or 0


def past_turns(connection: Connection, session_id: str, since: datetime | None) -> list[PastTurn]:
    """The turns that began at `since` or later, oldest first."""
    query = (
        select(
            turns.c.id,
            turns.c.started_at,
            turns.c.ended_at,
            turns.c.origin,
            turns.c.outcome,
            turns.c.error,
            turns.c.input_tokens,
            turns.c.output_tokens,
            turns.c.cache_read_tokens,
            turns.c.cache_creation_tokens,
        )
        .where(turns.c.session_id == session_id)
        .order_by(turns.c.started_at)
    )
    if since is not None:
        query = query.where(turns.c.started_at >= since)
    return [
        PastTurn(id, started_at, ended_at is not None, Usage(*tokens), origin, outcome, error)
        for id, started_at, ended_at, origin, outcome, error, *tokens in connection.execute(query)
    ]


def _unusable(url: str, error: SQLAlchemyError) -> StoreUnusable:
    lines = str(getattr(error, "orig", None) or error).strip().splitlines() or ["no answer"]
    return StoreUnusable(
        f"can't read Navi's sessions in {public_address(url)}: {lines[0]}",
        hint="run `navi doctor`; if an older Navi wrote the store, `navi serve` upgrades it",
    )
