"""The users, except `local`, who has the server's own token and is not stored."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from navi.base.errors import Conflict, UserNotFound
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import LOCAL_USER_ID, Role, User
from navi.live.store.access import logins, session_tokens
from navi.live.store.engine.tables import users


def add(connection: Connection, user: User, token_sha256: str) -> None:
    if user.id == LOCAL_USER_ID or _find(connection, user.id) is not None:
        raise Conflict(f"user {user.id} already exists", hint="`navi user list` shows all of them")
    connection.execute(
        insert(users).values(
            id=user.id,
            role=user.role,
            token_sha256=token_sha256,
            info=dict(user.info),
            created_at=user.created_at,
        )
    )


def list_users(connection: Connection) -> list[User]:
    rows = connection.execute(select(users).order_by(users.c.created_at))
    return [_user(row) for row in rows]


def replace_token(connection: Connection, user_id: str, token_sha256: str) -> None:
    """Replace the token, and end the user's browser logins and unused login codes."""
    changed = connection.execute(
        update(users).where(users.c.id == user_id).values(token_sha256=token_sha256)
    )
    if changed.rowcount == 0:
        raise UserNotFound(user_id)
    logins.end_all(connection, user_id)


def token_digest(connection: Connection, user_id: str) -> str | None:
    """The digest of the user's token; None if there is no such user."""
    query = select(users.c.token_sha256).where(users.c.id == user_id)
    return connection.execute(query).scalar_one_or_none()


def by_token(connection: Connection, token_sha256: str) -> User | None:
    row = connection.execute(
        select(users).where(users.c.token_sha256 == token_sha256)
    ).one_or_none()
    return None if row is None else _user(row)


def by_session_token(connection: Connection, token_sha256: str, now: datetime) -> Caller | None:
    """The agent with this token; None if the token is not valid or its user was removed."""
    owner = session_tokens.owner_of(connection, token_sha256)
    if owner is None:
        return None
    if owner.user_id != LOCAL_USER_ID and _find(connection, owner.user_id) is None:
        return None
    return Caller(get(connection, owner.user_id, now), owner.session_id)


def get(connection: Connection, user_id: str, now: datetime) -> User:
    """The user. A user who was removed gets the fewest rights."""
    if user_id == LOCAL_USER_ID:
        return User(LOCAL_USER_ID, Role.ADMIN, now)
    return _find(connection, user_id) or User(user_id, Role.USER, now)


def _find(connection: Connection, user_id: str) -> User | None:
    row = connection.execute(select(users).where(users.c.id == user_id)).one_or_none()
    return None if row is None else _user(row)


def _user(row: Row[Any]) -> User:
    return User(row.id, Role(row.role), row.created_at, row.info)
