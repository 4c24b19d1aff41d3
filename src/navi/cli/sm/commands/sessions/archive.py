"""`sm archive`: hide sessions from lists, or list them again."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session

HELP = """Archive each SESSION: hide it from lists, and change nothing else.

An archived session still shows up while it needs you, and is listed again once you send it a
message. `sm status --all` lists archived sessions too.
"""


@click.command("archive", help=HELP)
@click.argument(
    "sessions", nargs=-1, required=True, metavar="SESSION...", shell_complete=complete_session
)
@click.option("--undo", is_flag=True, help="List each SESSION again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(sessions: tuple[str, ...], undo: bool, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    records = [target.find(client, session) for session in sessions]
    change = client.unarchive if undo else client.archive
    changed = [change(record["id"]) for record in records]
    if as_json:
        output.say_json(changed)
        return
    for record in changed:
        words = "is listed again" if undo else "is archived"
        output.say(f"{lines.title_and_id(record)} {words}")
