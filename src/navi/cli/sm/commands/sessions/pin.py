"""`sm pin`: keep sessions at the top of lists."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session


@click.command("pin", help="Keep each SESSION at the top of lists, here and on the page.")
@click.argument(
    "sessions", nargs=-1, required=True, metavar="SESSION...", shell_complete=complete_session
)
@click.option("--undo", is_flag=True, help="Unpin each SESSION.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(sessions: tuple[str, ...], undo: bool, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    records = [target.find(client, session) for session in sessions]
    changed = [client.pin(record["id"], not undo) for record in records]
    if as_json:
        output.say_json(changed)
        return
    for record in changed:
        output.say(f"{lines.title_and_id(record)} is {'no longer ' if undo else ''}pinned")
