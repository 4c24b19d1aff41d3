"""`sm kill`: end a session."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session
from navi.cli.sm.session_help import EXACT_SESSION_HELP

HELP = f"""End SESSION for good. Its transcript is kept.

Stops its running turn, empties its queue, and ends its recall, automations and reminders.
{EXACT_SESSION_HELP} Only the session's parent or a person may do this.
"""


@click.command("kill", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    record = target.find(client, session, is_exact=True)
    changed = client.kill(record["id"], target.own_id_or_none())
    if as_json:
        output.say_json(changed)
    else:
        output.say(f"{lines.title_and_id(changed)} has ended")
