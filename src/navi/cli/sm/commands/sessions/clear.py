"""`sm clear`: clear a session's context."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session
from navi.cli.sm.session_help import EXACT_SESSION_HELP

HELP = f"""Clear SESSION's context: its agent forgets the conversation; the transcript is kept.

Stops the running turn, if any, and the periodic status reminders; one-off reminders stay.
{EXACT_SESSION_HELP} Only the session's parent or a person may do this.
"""


@click.command("clear", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    record = target.find(client, session, is_exact=True)
    changed = client.clear(record["id"], target.own_id_or_none())
    if as_json:
        output.say_json(changed)
    else:
        output.say(f"cleared {lines.title_and_id(changed)}")
