"""Browser logins and one-time login codes, stored only as digests."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from navi.live.model.access.login import Login
from navi.live.store.engine.tables import login_codes, logins

TOUCH_AFTER = timedelta(hours=1)
"""How stale `last_used_at` may get, so that most requests of a page write nothing."""

_COLUMNS = (logins.c.user_id, logins.c.owner_sha256, logins.c.created_at, logins.c.last_used_at)


def add_code(
    connection: Connection, code_sha256: str, user_id: str, expires_at: datetime, now: datetime
) -> None:
    """Store a login code, and delete those that have expired."""
    connection.execute(delete(login_codes).where(login_codes.c.expires_at <= now))
    if _has_code(connection, code_sha256):
        return
    connection.execute(
        insert(login_codes).values(code_sha256=code_sha256, user_id=user_id, expires_at=expires_at)
    )


def redeem(
    connection: Connection, code_sha256: str, token_sha256: str, login: Login, oldest: datetime
) -> bool:
    """Begin the login and use up the code. False if the code is not valid for the login's user."""
    if _find(connection, token_sha256) is not None:
        return True
    result = connection.execute(
        delete(login_codes).where(
            login_codes.c.code_sha256 == code_sha256,
            login_codes.c.user_id == login.user_id,
            login_codes.c.expires_at > login.created_at,
        )
    )
    if result.rowcount == 0:
        return False
    begin(connection, token_sha256, login, oldest)
    return True


def begin(connection: Connection, token_sha256: str, login: Login, oldest: datetime) -> None:
    """Store the login, and delete those that were last used before `oldest`."""
    connection.execute(delete(logins).where(logins.c.last_used_at < oldest))
    if _find(connection, token_sha256) is None:
        connection.execute(insert(logins).values(token_sha256=token_sha256, **asdict(login)))


def use(connection: Connection, token_sha256: str, now: datetime, oldest: datetime) -> Login | None:
    """Record the use of a login and return it; None if it is unknown or unused since `oldest`."""
    login = _find(connection, token_sha256)
    if login is None or login.last_used_at < oldest:
        return None
    if login.last_used_at + TOUCH_AFTER <= now:
        connection.execute(
            update(logins).where(logins.c.token_sha256 == token_sha256).values(last_used_at=now)
        )
    return login


def end(connection: Connection, token_sha256: str) -> int:
    """End a login. Returns how many were ended: 1, or 0 if there is no such login."""
    return connection.execute(delete(logins).where(logins.c.token_sha256 == token_sha256)).rowcount


def end_all(connection: Connection, user_id: str | None) -> int:
    """End the logins of one user, or of all users if None, and void their unused login codes.

    Returns how many logins were ended.
    """
    ended, unused = delete(logins), delete(login_codes)
    if user_id is not None:
        ended = ended.where(logins.c.user_id == user_id)
        unused = unused.where(login_codes.c.user_id == user_id)
    connection.execute(unused)
    return connection.execute(ended).rowcount


def list_logins(connection: Connection, oldest: datetime) -> list[Login]:
    """The logins used since `oldest`, most recently used first."""
    rows = connection.execute(
        select(*_COLUMNS)
        .where(logins.c.last_used_at >= oldest)
        .order_by(logins.c.last_used_at.desc())
    )
    return [Login(*row) for row in rows]


def _find(connection: Connection, token_sha256: str) -> Login | None:
    row = connection.execute(
        select(*_COLUMNS).where(logins.c.token_sha256 == token_sha256)
    ).one_or_none()
    return None if row is None else Login(*row)


def _has_code(connection: Connection, code_sha256: str) -> bool:
    query = select(login_codes.c.code_sha256).where(login_codes.c.code_sha256 == code_sha256)
    return connection.execute(query).one_or_none() is not None
