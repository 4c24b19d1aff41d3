"""Users and their tokens."""

from __future__ import annotations

import hmac
import re
from datetime import timedelta

from navi.base.clock import Clock
from navi.base.errors import InvalidInput, NotAuthenticated
from navi.base.token import SESSION_TOKEN, USER_TOKEN
from navi.live.model.access.caller import Caller
from navi.live.model.access.user import LOCAL_USER_ID, Belongings, Role, User
from navi.live.model.session import Session
from navi.live.runtime.services.server_token import ServerToken, digest, new_token
from navi.live.store.access import logins, user_removal, users
from navi.live.store.engine import signals
from navi.live.store.engine.transactions import Store

USER_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Accounts:
    def __init__(
        self, store: Store, clock: Clock, token: ServerToken, login_lifetime: timedelta
    ) -> None:
        self._store = store
        self._clock = clock
        self._token = token
        self._login_lifetime = login_lifetime

    async def authenticate(self, token: str) -> Caller:
        if token.startswith(SESSION_TOKEN):
            return await self._authenticate_agent(token)
        token_sha256 = digest(token)
        user = await self.holder(token_sha256) or await self._login_user(token_sha256)
        if user is None:
            raise NotAuthenticated(
                "this token is not valid here", hint="the server's own token is in $NAVI_HOME/token"
            )
        return Caller(user)

    async def _authenticate_agent(self, token: str) -> Caller:
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

    async def holder(self, token_sha256: str) -> User | None:
        """The user whose own token this is; None for a browser login's token, or an unknown one."""
        if hmac.compare_digest(token_sha256, self._token.sha256):
            return User(LOCAL_USER_ID, Role.ADMIN, self._clock.now())
        return await self._store.transact(users.by_token, token_sha256)

    async def token_digest(self, user_id: str) -> str | None:
        """The digest of the user's own token; None if there is no such user."""
        if user_id == LOCAL_USER_ID:
            return self._token.sha256
        return await self._store.transact(users.token_digest, user_id)

    async def _login_user(self, token_sha256: str) -> User | None:
        """The user of a browser login; None if it expired or their own token has changed since."""
        now = self._clock.now()
        oldest_use = now - self._login_lifetime
        login = await self._store.transact(logins.use, token_sha256, now, oldest_use)
        return None if login is None else await self.holder(login.owner_sha256)

    async def add(self, name: str, role: Role) -> tuple[User, str]:
        """Add a user. Returns the user and a token that is not stored and can't be shown again."""
        if not USER_NAME.fullmatch(name):
            raise InvalidInput(
                f"{name!r} is not a valid user name",
                hint="use lower-case letters, digits, '.', '_' and '-', at most 64 characters; "
                "begin with a letter or digit",
            )
        user = User(name, role, self._clock.now())
        token = new_token(USER_TOKEN)
        await self._store.transact(users.add, user, digest(token))
        return user, token

    async def replace_token(self, name: str) -> str:
        """Give the user a new token and end the browser logins made with the old one."""
        if name == LOCAL_USER_ID:
            raise InvalidInput(
                "the user `local` has the server's own token", hint="run `navi token rotate`"
            )
        token = new_token(USER_TOKEN)
        await self._store.transact(users.replace_token, name, digest(token))
        return token

    async def list_users(self) -> list[User]:
        local = User(LOCAL_USER_ID, Role.ADMIN, self._clock.now())
        return [local, *await self._store.transact(users.list_users)]

    async def survey(self, name: str) -> Belongings:
        """Everything that removing the user would stop."""
        _require_removable(name)
        return await self._store.transact(user_removal.survey, name)

    async def remove(self, name: str) -> Belongings:
        """End a user's access and everything they have running, in one transaction.

        Running servers notice at once; sessions and transcripts stay.
        """
        _require_removable(name)
        stopped = await self._store.transact(user_removal.remove, name, self._clock.now())
        signals.wake_server(self._store.url)
        return stopped


def _require_removable(name: str) -> None:
    if name == LOCAL_USER_ID:
        raise InvalidInput(
            "the user `local` is the server's own and can't be removed",
            hint="to change its token, run `navi token rotate`",
        )
