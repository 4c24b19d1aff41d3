"""Tokens and users."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from navi.domain.caller import Caller
from navi.domain.clock import Clock
from navi.domain.errors import InvalidInput, NotAuthenticated, StoreUnusable
from navi.domain.session import Session
from navi.domain.token import SERVER_TOKEN, SESSION_TOKEN, USER_TOKEN
from navi.domain.user import LOCAL_USER_ID, Role, User
from navi.store import users
from navi.store.store import Store

TOKEN_BYTES = 32
USER_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


def own_token(home: Path) -> str:
    """The token of the user `local`: made at the first start, readable by nobody else."""
    from_environment = os.environ.get("NAVI_TOKEN")
    # An agent that starts a server of its own has its session's token there.
    if from_environment and not from_environment.startswith(SESSION_TOKEN):
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

    async def authenticate(self, token: str) -> Caller:
        if hmac.compare_digest(token.encode(errors="replace"), self._token.encode()):
            return Caller(User(LOCAL_USER_ID, Role.ADMIN, self._clock.now()))
        if token.startswith(SESSION_TOKEN):
            return await self._agent(token)
        user = await self._store.transact(users.by_token, digest(token))
        if user is None:
            raise NotAuthenticated(
                "this token is not valid here",
                hint="the token is in $NAVI_HOME/token, and in the link that `navi serve` prints",
            )
        return Caller(user)

    async def _agent(self, token: str) -> Caller:
        now = self._clock.now()
        agent = await self._store.transact(users.by_session_token, digest(token), now)
        if agent is None:
            raise NotAuthenticated(
                "this agent's token is no longer valid: its session has ended, or its user is gone",
                hint="ask the person you work for to start a new session",
            )
        return agent

    async def owner(self, session: Session) -> User:
        """The user whose rights the session's agent has."""
        return await self._store.transact(users.get, session.user_id, self._clock.now())

    async def add(self, name: str, role: Role) -> tuple[User, str]:
        """A new user and their token, which is shown this once and not stored."""
        if not USER_NAME.fullmatch(name):
            raise InvalidInput(
                f"{name!r} can't be a user's name",
                hint="use lower-case letters, digits, '.', '_' and '-', at most 64",
            )
        user = User(name, role, self._clock.now())
        token = new_token(USER_TOKEN)
        await self._store.transact(users.add, user, digest(token))
        return user, token

    async def listing(self) -> list[User]:
        local = User(LOCAL_USER_ID, Role.ADMIN, self._clock.now())
        return [local, *await self._store.transact(users.listing)]

    async def remove(self, name: str) -> int:
        """End a user's access; returns how many sessions they leave behind."""
        if name == LOCAL_USER_ID:
            raise InvalidInput(
                "the user local is the server's own and can't be removed",
                hint="to change its token, delete $NAVI_HOME/token and restart the server",
            )
        return await self._store.transact(users.remove, name)


def _read_or_make(path: Path) -> str:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        token = path.read_text().strip()
        if token:
            return token
        path.unlink()
        return _read_or_make(path)
    token = new_token(SERVER_TOKEN)
    with os.fdopen(handle, "w") as file:
        file.write(token + "\n")
    return token


def new_token(beginning: str) -> str:
    return beginning + secrets.token_urlsafe(TOKEN_BYTES)


def digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
