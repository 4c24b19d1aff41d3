"""`navi user`: manage users other than `local`."""

from __future__ import annotations

import click

from navi.cli import formats, output
from navi.cli.confirmation import require_confirmation
from navi.cli.navi.opened_store import with_accounts
from navi.live.model.access.user import Belongings, Role
from navi.live.model.wire_format import user_json


@click.group(
    "user", help="Add, list and remove users. Users see only their own sessions; admins see all."
)
def command() -> None:
    pass


@command.command("add", help="Add a user and print their token. It is shown only once.")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.USER.value,
    show_default=True,
    help="Admins can see and change every user's sessions.",
)
def add(name: str, role: str) -> None:
    user, token = with_accounts(lambda accounts: accounts.add(name, Role(role)))
    output.note(f"added {user.id} ({user.role}); this is their token, which is not shown again:")
    output.say(token)


@command.command("list", help="List all users.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_users(as_json: bool) -> None:
    users = with_accounts(lambda accounts: accounts.list_users())
    if as_json:
        output.say_json([user_json(user) for user in users])
        return
    output.table(["NAME", "ROLE"], [[user.id, user.role] for user in users])


@command.command(
    "token", help="Replace a user's token and print the new one. It is shown only once."
)
@click.argument("name")
def token(name: str) -> None:
    new_token = with_accounts(lambda accounts: accounts.replace_token(name))
    output.note(
        f"{name}'s old token no longer works and their browsers are logged out; the new token:"
    )
    output.say(new_token)


@command.command(
    "remove",
    help="Remove a user and stop everything they have running. Transcripts are kept.",
)
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="Don't ask for confirmation.")
def remove(name: str, yes: bool) -> None:
    belongings = with_accounts(lambda accounts: accounts.survey(name))
    sessions = formats.count(belongings.sessions, "session")
    output.note(f"{name} has {sessions}. {_consequences(belongings)}")
    if not yes:
        require_confirmation(f"Remove {name}?")
    stopped = with_accounts(lambda accounts: accounts.remove(name))
    remark = "; their sessions have ended, but admins can still read them"
    output.note(f"removed {name}" + (remark if stopped.sessions else ""))


def _consequences(belongings: Belongings) -> str:
    """What removing the user stops, in a sentence."""
    counts = {
        "running turn": belongings.turns,
        "waiting input": belongings.inputs,
        "pending recall": belongings.recalls,
        "automation": belongings.automations,
        "reminder": belongings.reminders,
    }
    parts = [formats.count(number, noun) for noun, number in counts.items() if number]
    if not parts:
        return "They have nothing running or scheduled."
    return f"Removing the user stops {', '.join(parts)}."
