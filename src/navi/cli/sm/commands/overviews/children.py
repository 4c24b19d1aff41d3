"""`sm children`: the sessions an agent started, with their status."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session

HELP = """Show the sessions that SESSION started. Without SESSION, show those that the
calling agent started.

\b
sm children
sm children lead --recursive
"""


@click.command("children", help=HELP)
@click.argument("session", required=False, shell_complete=complete_session)
@click.option("--recursive", is_flag=True, help="Include their children, and so on.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str | None, recursive: bool, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    own = None if session is not None else target.own_id("name one: `sm children SESSION`")
    client = Client(find_server())
    parent_id = own or target.find(client, session or "")["id"]
    children = client.children(parent_id, recursive=recursive)
    if as_json:
        output.say_json(children)
    elif not children:
        output.note("no children")
    else:
        now = client.now()
        rows = [
            [lines.title_and_id(child), child["state"], lines.status(child, now)]
            for child in children
        ]
        output.columns(rows, " | ")
