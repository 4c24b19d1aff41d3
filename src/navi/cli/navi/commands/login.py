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
@click.option("--user", help=f"The user to log in.  [default: {LOCAL_USER_ID}]")
@click.option("--no-open", is_flag=True, help="Don't open a browser.")
@click.option("--list", "is_list", is_flag=True, help="List the browsers that are logged in.")
def command(user: str | None, no_open: bool, is_list: bool) -> None:
    """Print a link that logs a browser in, and open it if you are at a desktop.

    The first person to open the link is logged in, so share it only with the user it is for.
    Like `navi user`, run this on the machine that holds the server's store. `navi logout` logs
    browsers out.
    """
    if is_list:
        _list(user)
        return
    address = running_server()
    code = with_logins(lambda logins: logins.make_code(user or LOCAL_USER_ID))
    link = login_link(address, user or LOCAL_USER_ID, code)
    output.say(link)
    output.note(LINK_NOTE)
    # With --user, the link is for someone else's browser.
    if user is None and not no_open and browser.can_open():
        browser.open_link(link, server_files.home())


def _list(user: str | None) -> None:
    logins = with_logins(lambda logins: logins.list_logins())
    rows = [
        [each.user_id, formats.local_time(each.created_at), formats.local_time(each.last_used_at)]
        for each in logins
        if user in (None, each.user_id)
    ]
    output.table(["USER", "SINCE", "LAST USED"], rows)


def running_server() -> str:
    """The server's address, after checking that it responds."""
    address = find_server().address
    # Don't send the token: any program may be listening there.
    Client(Server(address, None, "")).health()
    return address
