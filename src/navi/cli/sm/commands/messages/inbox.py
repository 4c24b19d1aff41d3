"""`sm inbox`: everything that is waiting for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from navi.cli import output
from navi.cli.sm.inbox_completion import ItemId
from navi.cli.timezone_options import timezone_option

if TYPE_CHECKING:
    from datetime import tzinfo

    from navi.client import Client
    from navi.live.model.wire_format import InboxItemJson

HELP = """Show everything that is waiting for you, most important first: questions, turns that
failed, automations that were switched off, and turns that finished while you were away. Each item
says why it is there, how long it has been waiting, and what happens if you do nothing.

\b
sm inbox
sm answer 523e PostgreSQL
sm inbox --snooze failure-c16cb4854bc60dac --until "tomorrow at 9"
sm inbox --settle finished-d682973b9ef375a9

A snoozed item comes back at the given time, or earlier if the same happens again. A question
stays until it is answered: see `sm answer`.
"""


@click.command("inbox", help=HELP)
@click.option(
    "--settle",
    metavar="ID",
    type=ItemId(),
    help="Mark this item as dealt with, which removes it.",
)
@click.option(
    "--snooze", metavar="ID", type=ItemId(), help="Hide this item for now; needs --until."
)
@click.option(
    "--until",
    metavar="WHEN",
    help="With --snooze: when the item comes back, like 2h or tomorrow at 9.",
)
@click.option("--all", "is_all", is_flag=True, help="Include snoozed items.")
@timezone_option()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    settle: str | None,
    snooze: str | None,
    until: str | None,
    is_all: bool,
    zone: tzinfo | None,
    as_json: bool,
) -> None:
    from navi.base.errors import UsageError
    from navi.base.timezone import zone_name
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server

    if (snooze is None) != (until is None) or (settle is not None and snooze is not None):
        raise UsageError(
            "--snooze and --until belong together, without --settle",
            hint="`sm inbox --snooze ID --until 2h`",
        )
    zone = zone or own_timezone()
    client = Client(find_server())
    if settle is not None:
        _say(client.settle(settle), "settled", as_json=as_json)
    elif snooze is not None and until is not None:
        item = client.snooze(snooze, until, tz=zone_name(zone))
        _say(item, f"snoozed until {_time(item, zone)}", as_json=as_json)
    else:
        _show(client, zone, is_all=is_all, as_json=as_json)


def _show(client: Client, zone: tzinfo, *, is_all: bool, as_json: bool) -> None:
    from navi.base.timezone import zone_name
    from navi.cli.sm import inbox_lines

    items = client.inbox(tz=zone_name(zone), snoozed=is_all)
    if as_json:
        output.say_json(items)
        return
    if not items:
        output.note("nothing is waiting for you")
        return
    now = client.now()
    for item in items:
        output.say("\n".join(inbox_lines.item_lines(item, now, zone)))
    questions = [each["question"] for each in items if each["question"] is not None]
    if (hint := inbox_lines.how_to_answer(questions)) is not None:
        output.note(hint)


def _say(item: InboxItemJson, result: str, *, as_json: bool) -> None:
    from navi.cli.sm import lines

    if as_json:
        output.say_json(item)
    else:
        output.say(f"{result}: {lines.plain(item['title'], lines.LONGEST)}")


def _time(item: InboxItemJson, zone: tzinfo) -> str:
    from navi.cli.sm import lines

    assert item["snoozed_until"] is not None
    return lines.local_time(item["snoozed_until"], zone)
