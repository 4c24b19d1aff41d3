"""The tokens with which sessions' agents call the server, stored only as digests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, delete, insert, select

from navi.live.model.session import SessionState
from navi.live.store.engine.tables import session_tokens, sessions
from navi.live.store.lanes import lock

TOKENS_PER_SESSION = 8
"""More than one, because agents outlive servers, and each server start may add a token."""


def add(connection: Connection, session_id: str, token_sha256: str, now: datetime) -> None:
    """Store a token, unless its session has ended. Drops the oldest ones if there are too many."""
    if lock(connection, session_id).session.state is SessionState.STOPPED:
        return
    if owner_of(connection, token_sha256) is not None:
        return
    newest_first = (
        select(session_tokens.c.token_sha256)
        .where(session_tokens.c.session_id == session_id)
        .order_by(session_tokens.c.created_at.desc(), session_tokens.c.token_sha256)
    )
    surplus = connection.execute(newest_first).scalars().all()[TOKENS_PER_SESSION - 1 :]
    connection.execute(delete(session_tokens).where(session_tokens.c.token_sha256.in_(surplus)))
    connection.execute(
        insert(session_tokens).values(
            session_id=session_id, token_sha256=token_sha256, created_at=now
        )
    )


@dataclass(frozen=True, slots=True)
class TokenOwner:
    """The session that has a token, and its user."""

    session_id: str
    user_id: str


def owner_of(connection: Connection, token_sha256: str) -> TokenOwner | None:
    """The token's owner; None if the token is not valid."""
    row = connection.execute(
        select(sessions.c.id, sessions.c.user_id)
        .join(session_tokens, session_tokens.c.session_id == sessions.c.id)
        .where(session_tokens.c.token_sha256 == token_sha256)
    ).one_or_none()
    return None if row is None else TokenOwner(row.id, row.user_id)


def void(connection: Connection, session_id: str) -> None:
    """Delete all tokens of a session that has ended."""
    connection.execute(delete(session_tokens).where(session_tokens.c.session_id == session_id))
