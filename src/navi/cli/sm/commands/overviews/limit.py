"""`sm limit`: the usage limits of agents' accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from navi.cli import output
from navi.cli.timezone_options import timezone_option

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from navi.live.model.wire_format import LimitJson

HELP = """Show each account's usage limits: how much is used (if the agent reports it), when they
reset, and how many inputs wait for the reset.

When a limit resets, the waiting sessions continue by themselves, one after another. A message that
you send does not wait. To continue everything now:

\b
sm limit --ignore
sm limit --ignore claude_code:local
"""
ALL = "*"


@click.command("limit", help=HELP)
@click.option(
    "--ignore",
    "ignored",
    metavar="[ACCOUNT]",
    is_flag=False,
    flag_value=ALL,
    help="Continue everything that is waiting for this account's limits or, without ACCOUNT, for "
    "any account's.",
)
@timezone_option()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(ignored: str | None, zone: tzinfo | None, as_json: bool) -> None:
    from navi.cli.sm.timezone import own_timezone
    from navi.cli.table import Column
    from navi.client import Client, find_server

    client = Client(find_server())
    if ignored is None:
        limits = client.limits()
    else:
        limits = client.ignore_limit(None if ignored == ALL else ignored)
    if as_json:
        output.say_json(limits)
        return
    if not limits:
        output.note("no agent has hit or reported a usage limit yet")
        return
    zone, now = zone or own_timezone(), client.now()
    columns = [
        Column("ACCOUNT", needed_width=12),
        Column("LIMIT"),
        Column("USED"),
        Column("RESETS", rank=1),
        Column("WAITING", rank=2),
    ]
    output.table(columns, [_row(limit, now, zone) for limit in limits])


def _row(limit: LimitJson, now: datetime, zone: tzinfo) -> list[str]:
    from navi.cli.sm import lines

    used, count = limit["used_percent"], limit["waiting_inputs"]
    until = limit["until"] if limit["resets_at"] is None else limit["resets_at"]
    reset = "-" if until is None else lines.time_from_now(until, now, zone)
    if until is not None and limit["resets_at"] is None:
        reset = f"unknown; next attempt {reset}"
    return [
        lines.plain(limit["account"]),
        lines.plain(limit["kind"]).replace("_", " "),
        "-" if used is None else f"{used:g}%",
        reset,
        str(count) if count else "-",
    ]
