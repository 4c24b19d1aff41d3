"""Browser logins: begun with a token or a one-time code, ended on request or after disuse."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from navi.base.clock import Clock
from navi.base.errors import NotAuthenticated, UserNotFound
from navi.live.model.access.login import Login
from navi.live.runtime.services.accounts import Accounts
from navi.live.runtime.services.server_token import TOKEN_BYTES, digest
from navi.live.store.access import logins
from navi.live.store.engine.transactions import Store

CODE_LIFETIME = timedelta(minutes=10)
LOGIN_HINT = "run `navi login` in a terminal on the server's machine and open the link it prints"


@dataclass(frozen=True, slots=True)
class NewLogin:
    """The two halves of a login's token. Each is useless without the other."""

    user_id: str
    cookie: str
    page_secret: str

    @property
    def token(self) -> str:
        return join(self.cookie, self.page_secret)


def join(cookie: str, page_secret: str) -> str:
    return f"{cookie}.{page_secret}"


class LoginService:
    """Begins and ends logins. A login unused for `lifetime` expires."""

    def __init__(self, store: Store, clock: Clock, accounts: Accounts, lifetime: timedelta) -> None:
        self._store = store
        self._clock = clock
        self._accounts = accounts
        self._lifetime = lifetime

    async def make_code(self, user_id: str) -> str:
        """Make a code that logs one browser in as this user, once, within a few minutes."""
        if await self._accounts.token_digest(user_id) is None:
            raise UserNotFound(user_id)
        code = secrets.token_urlsafe(TOKEN_BYTES)
        now = self._clock.now()
        expires_at = now + CODE_LIFETIME
        await self._store.transact(logins.add_code, digest(code), user_id, expires_at, now)
        return code

    async def log_in_with_code(self, code: str, user_id: str) -> NewLogin:
        """Log in as `user_id`, refusing a code made for anyone else."""
        owner_sha256 = await self._accounts.token_digest(user_id)
        new = _new_login(user_id)
        if owner_sha256 is None or not await self._store.transact(
            logins.redeem,
            digest(code),
            digest(new.token),
            self._login(user_id, owner_sha256),
            self._oldest_use(),
        ):
            raise NotAuthenticated("this link has expired or was already used", hint=LOGIN_HINT)
        return new

    async def log_in_with_token(self, token: str) -> NewLogin:
        """Log in with a user's own token. Tokens of sessions and of other logins are refused."""
        owner_sha256 = digest(token)
        user = await self._accounts.holder(owner_sha256)
        if user is None:
            raise NotAuthenticated("this token is not valid here", hint=LOGIN_HINT)
        new = _new_login(user.id)
        login = self._login(user.id, owner_sha256)
        await self._store.transact(logins.begin, digest(new.token), login, self._oldest_use())
        return new

    async def end(self, token: str) -> int:
        """End the login with this token. Returns how many were ended: 1, or 0 if there was none."""
        return await self._store.transact(logins.end, digest(token))

    async def end_all(self, user_id: str | None) -> int:
        """End all logins of this user; with None, of everyone. Returns how many were ended."""
        return await self._store.transact(logins.end_all, user_id)

    async def list_logins(self) -> list[Login]:
        """The valid logins, most recently used first."""
        recent = await self._store.transact(logins.list_logins, self._oldest_use())
        return [each for each in recent if await self._accounts.holder(each.owner_sha256)]

    def _login(self, user_id: str, owner_sha256: str) -> Login:
        now = self._clock.now()
        return Login(user_id, owner_sha256, created_at=now, last_used_at=now)

    def _oldest_use(self) -> datetime:
        return self._clock.now() - self._lifetime


def _new_login(user_id: str) -> NewLogin:
    return NewLogin(user_id, secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(TOKEN_BYTES))
