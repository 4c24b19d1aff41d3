"""A user of a server, who sees nothing of what others have there."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

from navi.base.system_clock import SystemClock
from navi.live.model.access.user import Role
from navi.live.runtime.services.accounts import Accounts
from navi.live.runtime.services.server_token import ServerToken
from navi.live.store.engine.transactions import Store
from tests.server import Client, ServerProcess


@dataclass(frozen=True, slots=True)
class OwnUser:
    address: str
    token: str

    @classmethod
    async def add(cls, server: ServerProcess) -> OwnUser:
        store, clock = Store(server.database_url), SystemClock()
        store.start()
        try:
            accounts = Accounts(store, clock, ServerToken(server.token), timedelta(days=1))
            _, token = await accounts.add(f"user-{uuid4().hex[:12]}", Role.USER)
        finally:
            await store.close()
        return cls(server.address, token)

    def client(self) -> Client:
        return Client(self.address, self.token, 30.0)
