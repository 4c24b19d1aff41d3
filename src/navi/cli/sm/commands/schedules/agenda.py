"""`sm agenda`: what will happen next in all sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from navi.cli import output
from navi.cli.timezone_options import timezone_option

if TYPE_CHECKING:
    from datetime import tzinfo

HELP = """Show what will happen next in all sessions: recalls, automations and reminders.

\b
sm agenda
sm agenda --until "tomorrow at 18:00"

Each automation is listed with its next run only.
"""


@click.command("agenda", help=HELP)
@click.option(
    "--until", metavar="WHEN", help="Only show entries up to this time: 2h, friday at 18:00."
)
@timezone_option()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(until: str | None, zone: tzinfo | None, as_json: bool) -> None:
    from navi.base.timezone import zone_name
    from navi.cli.sm import lines
    from navi.cli.sm.timezone import own_timezone
    from navi.cli.table import Column
    from navi.client import Client, find_server

    zone = zone or own_timezone()
    client = Client(find_server())
    entries = client.agenda(until, tz=zone_name(zone))
    if as_json:
        output.say_json(entries)
        return
    if not entries:
        output.note("nothing is scheduled" if until is None else "nothing is scheduled until then")
        return
    now = client.now()
    columns = [
        Column("WHEN"),
        Column("IN", rank=1),
        Column("WHAT"),
        Column("SESSION", needed_width=12),
        Column("TITLE", needed_width=16),
        Column("ID", rank=2, style="dim"),
    ]
    output.table(columns, [lines.agenda_row(entry, now, zone) for entry in entries])
    if (reason := lines.held_by_terminals(entries, now)) is not None:
        output.note(reason)
