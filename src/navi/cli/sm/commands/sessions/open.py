"""`sm open`: show a session on the page."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session

HELP = """Open Navi's page, or SESSION on it, in your browser, and print the address.

Opening SESSION marks it as read. For an agent, or without a desktop, this only prints the address.
"""


@click.command("open", help=HELP)
@click.argument("session", required=False, shell_complete=complete_session)
def command(session: str | None) -> None:
    from navi.base import platform
    from navi.cli.sm import reader, target
    from navi.client import Client, find_server

    server = find_server()
    client = Client(server)
    record = None if session is None else target.find(client, session)
    address = f"{server.address}/" + ("" if record is None else f"#/sessions/{record['id']}")
    if record is None:
        client.health()  # fails if no server runs
    output.say(address)
    if target.own_id_or_none() is not None or not platform.has_desktop():
        return
    platform.open_page(address)
    if record is not None:
        reader.mark_read(client, record)
