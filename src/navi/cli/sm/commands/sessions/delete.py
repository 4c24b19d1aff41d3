"""`sm delete`: delete a session and everything in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session
from navi.cli.sm.session_help import EXACT_SESSION_HELP

if TYPE_CHECKING:
    from navi.client import Client
    from navi.live.model.wire_format import SessionJson

HELP = f"""Delete SESSION for good, with its transcript, queue, recall, automations and reminders.

Lists what will be deleted, and asks first. Stops the running turn. Sessions that SESSION
started are kept.
{EXACT_SESSION_HELP} Only the session's parent or a person may do this.
`sm archive` only hides a session.
"""


@click.command("delete", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.option("-y", "--yes", "is_sure", is_flag=True, help="Don't ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, is_sure: bool, as_json: bool) -> None:
    from navi.cli.confirmation import require_confirmation
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    record = target.find(client, session, is_exact=True)
    contents = _contents(client, record)
    if not is_sure:
        require_confirmation(f"Delete {lines.title_and_id(record)} for good, with {contents}?")
    client.remove_session(record["id"], target.own_id_or_none(), delete_automations=True)
    if as_json:
        output.say_json({"deleted": True, "id": record["id"]})
    else:
        output.say(f"deleted {lines.title_and_id(record)} with {contents}")


def _contents(client: Client, session: SessionJson) -> str:
    """`its transcript, 2 queued inputs, its recall and 1 automation (error log)`"""
    from navi.cli.formats import count
    from navi.cli.sm import lines

    parts = ["its transcript"]
    if queue := client.queue(session["id"]):
        parts.append(count(len(queue), "queued input"))
    if session["pending_recall"] is not None:
        parts.append("its recall")
    if automations := client.automations(session["id"]):
        names = ", ".join(lines.plain(each["name"], lines.LONGEST) for each in automations)
        parts.append(f"{count(len(automations), 'automation')} ({names})")
    if reminders := client.reminders(session["id"]):
        parts.append(count(len(reminders), "reminder"))
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last
