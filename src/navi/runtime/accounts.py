"""Tokens and users."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from navi.domain.clock import Clock
from navi.domain.errors import InvalidInput, NotAuthenticated, StoreUnusable
from navi.domain.user import LOCAL_USER_ID, Belongings, Role, User
from navi.store import signals, user_removal, users
from navi.store.store import Store

TOKEN_BYTES = 32
USER_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def own_token(home: Path) -> str:
    """The token of the user `local`: made at the first start, readable by nobody else."""
    if from_environment := os.environ.get("NAVI_TOKEN"):
        return from_environment
    path = home / "token"
    try:
        return _read_or_make(path)
    except OSError as error:
        raise StoreUnusable(
            f"can't read or write the access token {path}: {error.strerror}",
            hint="make it readable, or set NAVI_TOKEN",
        ) from error


class Accounts:
    def __init__(self, store: Store, clock: Clock, token: str) -> None:
        self._store = store
        self._clock = clock
        self._token = token

    async def authenticate(self, token: str) -> User:
        if hmac.compare_digest(token.encode(errors="replace"), self._token.encode()):
            return User(LOCAL_USER_ID, Role.ADMIN, self._clock.now())
        user = await self._store.transact(users.by_token, _digest(token))
        if user is None:
            raise NotAuthenticated(
                "this token is not valid here",
                hint="the token is in $NAVI_HOME/token, and in the link that `navi serve` prints",
            )
        return user

    async def add(self, name: str, role: Role) -> tuple[User, str]:
        """A new user and their token, which is shown this once and not stored."""
        if not USER_NAME.fullmatch(name):
            raise InvalidInput(
                f"{name!r} can't be a user's name",
                hint="use lower-case letters, digits, '.', '_' and '-', at most 64",
            )
        user = User(name, role, self._clock.now())
        token = secrets.token_urlsafe(TOKEN_BYTES)
        await self._store.transact(users.add, user, _digest(token))
        return user, token

    async def listing(self) -> list[User]:
        local = User(LOCAL_USER_ID, Role.ADMIN, self._clock.now())
        return [local, *await self._store.transact(users.listing)]

    async def survey(self, name: str) -> Belongings:
        """What removing a user would stop."""
        _require_removable(name)
        return await self._store.transact(user_removal.survey, name)

    async def remove(self, name: str) -> Belongings:
        """End a user's access and all they had going on, in one transaction.

        Running servers notice at once; sessions and transcripts stay.
        """
        _require_removable(name)
        stopped = await self._store.transact(user_removal.remove, name, self._clock.now())
        signals.ring(self._store.url)
        return stopped


def _require_removable(name: str) -> None:
    if name == LOCAL_USER_ID:
        raise InvalidInput(
            "the user local is the server's own and can't be removed",
            hint="to change its token, delete $NAVI_HOME/token and restart the server",
        )


def _read_or_make(path: Path) -> str:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        token = path.read_text().strip()
        if token:
            return token
        path.unlink()
        return _read_or_make(path)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    with os.fdopen(handle, "w") as file:
        file.write(token + "\n")
    return token


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
