"""`navi user`: who may log in, besides the user `local`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import click

from navi.cli import output
from navi.domain.user import Role
from navi.domain.wire import user_json
from navi.runtime import places
from navi.runtime.accounts import Accounts
from navi.runtime.system_clock import SystemClock

R = TypeVar("R")


@click.group("user", help="Add, list and remove users. Each sees only their own sessions.")
def command() -> None:
    pass


@command.command("add", help="Add a user and print their token, this once.")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.USER.value,
    show_default=True,
    help="An admin sees and touches the sessions of all users.",
)
def add(name: str, role: str) -> None:
    user, token = _with_accounts(lambda accounts: accounts.add(name, Role(role)))
    output.note(f"added {user.id} ({user.role}); this is their token, it is not shown again:")
    output.say(token)


@command.command("list", help="List all users.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def listing(as_json: bool) -> None:
    users = _with_accounts(lambda accounts: accounts.listing())
    if as_json:
        output.say_json([user_json(user) for user in users])
        return
    output.table(["NAME", "ROLE"], [[user.id, user.role] for user in users])


@command.command("remove", help="End a user's access. Their sessions stay.")
@click.argument("name")
def remove(name: str) -> None:
    left = _with_accounts(lambda accounts: accounts.remove(name))
    output.note(f"removed {name}; {left} of their sessions stay, an admin can see them")


def _with_accounts(work: Callable[[Accounts], Awaitable[R]]) -> R:
    async def run() -> R:
        async with _accounts() as accounts:
            return await work(accounts)

    return asyncio.run(run())


@asynccontextmanager
async def _accounts() -> AsyncIterator[Accounts]:
    """The users of the same store that `navi serve` would use; no server needs to run."""
    from navi.store import schema
    from navi.store.store import Store

    places.prepare_home()
    url = places.database_url()
    schema.prepare(url)
    store = Store(url)
    store.start()
    try:
        yield Accounts(store, SystemClock(), token="")
    finally:
        await store.close()
