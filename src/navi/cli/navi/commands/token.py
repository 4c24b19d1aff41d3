"""`navi token`: the server's own token."""

from __future__ import annotations

import os

import click

from navi.cli import output
from navi.cli.navi.opened_store import with_logins
from navi.live.model.access.user import LOCAL_USER_ID
from navi.live.runtime import server_files
from navi.live.runtime.services import server_token


@click.group("token", help="Manage the server's own token, which belongs to the user `local`.")
def command() -> None:
    pass


@command.command("rotate")
def rotate() -> None:
    """Replace the server's token with a new one.

    A running server accepts the new token at once and rejects the old one. Browsers logged in as
    the user `local` are logged out, and unopened links from `navi login` stop working.
    """
    path = server_token.rotate(server_files.prepare_home())
    output.note(f"the new token is in {path}; the old one no longer works")
    with_logins(lambda logins: logins.end_all(LOCAL_USER_ID))
    if os.environ.get("NAVI_TOKEN"):
        output.note(
            "but NAVI_TOKEN is set here, and a server started with it ignores the file; "
            "change the variable where it is set, and restart that server"
        )
    else:
        output.note(
            "`sm`, hooks and MCP on this machine read that file; if you copied the token "
            "elsewhere, such as to NAVI_TOKEN on another machine, replace it there"
        )
    output.note("log your browser in again with `navi login`")
