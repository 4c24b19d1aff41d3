"""`navi logout`: log out browsers."""

from __future__ import annotations

import click

from navi.base.errors import UsageError
from navi.cli import formats, output
from navi.cli.navi.opened_store import with_logins
from navi.live.model.access.user import LOCAL_USER_ID


@click.command("logout")
@click.option("--user", help=f"Log out this user's browsers.  [default: {LOCAL_USER_ID}]")
@click.option("--all", "all_users", is_flag=True, help="Log out everyone's browsers.")
def command(user: str | None, all_users: bool) -> None:
    """Log out all of a user's browsers. Tokens stay valid."""
    if all_users and user is not None:
        raise UsageError("--user and --all can't be combined", hint="use one or the other")
    user_id = None if all_users else user or LOCAL_USER_ID
    count = with_logins(lambda logins: logins.end_all(user_id))
    owner = "all users" if user_id is None else f"user {user_id}"
    output.note(f"logged out {formats.count(count, 'browser')} for {owner}")
