"""`navi login`: a link that logs one browser in."""

from __future__ import annotations

import click

from navi.cli import formats, output
from navi.cli.navi import browser
from navi.cli.navi.opened_store import with_logins
from navi.client import Client, Server, find_server
from navi.live.model.access.login import login_link
from navi.live.model.access.user import LOCAL_USER_ID
from navi.live.runtime import server_files

LINK_NOTE = "The link works once and expires in 10 minutes; `navi login` makes another."


@click.command("login")
@click.option(
    "--user",
    help="Make the link for this user; with --list, list only this user's browsers.  "
    f"[default: {LOCAL_USER_ID}; with --list, all users]",
)
@click.option("--no-open", is_flag=True, help="Don't open a browser.")
@click.option("--list", "is_list", is_flag=True, help="List the browsers that are logged in.")
def command(user: str | None, no_open: bool, is_list: bool) -> None:
    """Print a link that logs a browser in. Without --user, also open it if a desktop is available.

    The first person to open the link is logged in, so share it only with the user it is for.
    Like `navi user`, this has to run on the machine that holds the server's store.
    `navi logout` logs browsers out.
    """
    if is_list:
        _list(user)
        return
    # With --user, the link is for someone else's browser.
    print_link(user or LOCAL_USER_ID, opens_browser=user is None and not no_open)


def print_link(user: str, *, opens_browser: bool) -> None:
    """Print a link that logs `user` in. `opens_browser` also opens it if there is a desktop."""
    address = running_server_address()
    code = with_logins(lambda logins: logins.make_code(user))
    link = login_link(address, user, code)
    output.say(link)
    output.note(LINK_NOTE)
    if opens_browser and browser.can_open():
        browser.open_link(link, server_files.home())


def _list(user: str | None) -> None:
    logins = with_logins(lambda logins: logins.list_logins())
    rows = [
        [each.user_id, formats.local_time(each.created_at), formats.local_time(each.last_used_at)]
        for each in logins
        if user in (None, each.user_id)
    ]
    output.table(["USER", "SINCE", "LAST USED"], rows)


def running_server_address() -> str:
    """The server's address. Raises an error if the server does not respond."""
    address = find_server().address
    # Don't send the token: any program may be listening there.
    Client(Server(address, None, "")).health()
    return address
