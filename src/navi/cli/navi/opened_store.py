"""Users and logins in the store that `navi serve` uses; works without a running server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from navi.runtime import places, settings
from navi.runtime.accounts import Accounts
from navi.runtime.logins import Logins
from navi.runtime.server_token import ServerToken
from navi.runtime.system_clock import SystemClock

R = TypeVar("R")


def with_accounts(work: Callable[[Accounts], Awaitable[R]]) -> R:
    return asyncio.run(_run(lambda accounts, _: work(accounts)))


def with_logins(work: Callable[[Logins], Awaitable[R]]) -> R:
    return asyncio.run(_run(lambda _, logins: work(logins)))


async def _run(work: Callable[[Accounts, Logins], Awaitable[R]]) -> R:
    from navi.store import schema
    from navi.store.store import Store

    token = ServerToken.find(places.prepare_home())
    lifetime = timedelta(days=settings.load().server.login_days)
    url = places.database_url()
    schema.prepare(url)
    store, clock = Store(url), SystemClock()
    store.start()
    try:
        accounts = Accounts(store, clock, token, lifetime)
        return await work(accounts, Logins(store, clock, accounts, lifetime))
    finally:
        await store.close()
