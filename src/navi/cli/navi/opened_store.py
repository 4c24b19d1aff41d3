"""Opens the store that `navi serve` uses, for commands that work without a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from navi.base.system_clock import SystemClock
from navi.live.runtime import server_files, settings
from navi.live.runtime.services.accounts import Accounts
from navi.live.runtime.services.login_service import LoginService
from navi.live.runtime.services.server_token import ServerToken

Result = TypeVar("Result")


def with_accounts(work: Callable[[Accounts], Awaitable[Result]]) -> Result:
    return asyncio.run(_run(lambda accounts, _: work(accounts)))


def with_logins(work: Callable[[LoginService], Awaitable[Result]]) -> Result:
    return asyncio.run(_run(lambda _, logins: work(logins)))


async def _run(work: Callable[[Accounts, LoginService], Awaitable[Result]]) -> Result:
    from navi.live.store.engine import schema
    from navi.live.store.engine.transactions import Store

    token = ServerToken.find(server_files.prepare_home())
    lifetime = timedelta(days=settings.load().server.login_days)
    url = server_files.database_url()
    schema.prepare(url)
    store, clock = Store(url), SystemClock()
    store.start()
    try:
        accounts = Accounts(store, clock, token, lifetime)
        return await work(accounts, LoginService(store, clock, accounts, lifetime))
    finally:
        await store.close()
