"""`navi user`: who may log in, besides the user `local`."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.navi.opened_store import with_accounts
from navi.domain.user import Role
from navi.domain.wire import user_json


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
    user, token = with_accounts(lambda accounts: accounts.add(name, Role(role)))
    output.note(f"added {user.id} ({user.role}); this is their token, it is not shown again:")
    output.say(token)


@command.command("list", help="List all users.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def listing(as_json: bool) -> None:
    users = with_accounts(lambda accounts: accounts.listing())
    if as_json:
        output.say_json([user_json(user) for user in users])
        return
    output.table(["NAME", "ROLE"], [[user.id, user.role] for user in users])


@command.command("token", help="Replace a user's token and print the new one, this once.")
@click.argument("name")
def token(name: str) -> None:
    new = with_accounts(lambda accounts: accounts.replace_token(name))
    output.note(f"the old token of {name} is void, and their browsers are logged out; the new one:")
    output.say(new)


@command.command("remove", help="End a user's access. Their sessions stay.")
@click.argument("name")
def remove(name: str) -> None:
    left = with_accounts(lambda accounts: accounts.remove(name))
    output.note(f"removed {name}; {left} of their sessions stay, an admin can see them")
