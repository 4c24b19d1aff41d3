"""`sm stop`: interrupt a session's running turn."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session

HELP = """Interrupt SESSION's running turn. What it said so far is kept.

The session stays usable and continues with its queue, if it has one. `sm kill` ends it for good.
"""


@click.command("stop", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, as_json: bool) -> None:
    from navi.cli.formats import count
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    record = target.find(client, session)
    is_stopped = client.stop(record["id"])
    if as_json:
        output.say_json({"stopped": is_stopped})
        return
    if not is_stopped:
        output.note(f"{lines.title_and_id(record)} has no running turn")
        return
    waiting = len(client.queue(record["id"]))
    continuation = f"; it continues with {count(waiting, 'queued input')}" if waiting else ""
    output.say(f"stopped the turn of {lines.title_and_id(record)}{continuation}")
