"""`sm recall`: schedule, show, skip, cancel or list a session's wake-ups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from navi.cli.sm.session_completion import complete_session
from navi.cli.sm.session_help import SESSION_HELP
from navi.cli.timezone_options import timezone_option

if TYPE_CHECKING:
    from datetime import tzinfo

HELP = f"""Wake a session later, in a new turn that begins with INSTRUCTION.

\b
sm recall builder "30m" "Read build.log; if it failed, report its last 50 lines."
sm recall builder "tomorrow at 9" "Read errors.log; summarize what is new." --every 1d
sm recall builder --now "Continue with step 3 of plan.md."
sm recall builder --cancel

{SESSION_HELP} Without WHEN and INSTRUCTION, shows the pending recall. `navi when` shows how Navi
reads a time. With --every, WHEN may be left out: the first turn then begins after one interval.
"""


@click.command("recall", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.argument("texts", nargs=-1, metavar="[WHEN] [INSTRUCTION]")
@click.option("--every", metavar="DURATION", help="Repeat at this interval: 15m, 2h, 1d.")
@click.option("--now", "is_now", is_flag=True, help="Wake the session now instead of at WHEN.")
@click.option("--comment", metavar="TEXT", help="A note for people; the agent doesn't see it.")
@timezone_option()
@click.option("--skip", is_flag=True, help="Skip the next wake-up of a recurring recall.")
@click.option("--cancel", is_flag=True, help="Cancel the pending recall.")
@click.option(
    "--list", "list_all", is_flag=True, help="List SESSION's recalls, including past ones."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    session: str,
    texts: tuple[str, ...],
    every: str | None,
    is_now: bool,
    comment: str | None,
    zone: tzinfo | None,
    skip: bool,
    cancel: bool,
    list_all: bool,
    as_json: bool,
) -> None:
    # Imported here so that --help and completions start quickly.
    from dataclasses import replace

    from navi.base.timezone import zone_name
    from navi.cli.sm import target
    from navi.cli.sm.recall_actions import RecallActions
    from navi.cli.sm.recall_plan import read
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server
    from navi.live.model.scheduling.recall_request import RecallRequest

    zone = zone or own_timezone()
    flags = {"skip": skip, "cancel": cancel, "list": list_all}
    actions = [name for name, is_set in flags.items() if is_set]
    plan = read(session, texts, actions, every=every, is_now=is_now, comment=comment)
    client = Client(find_server())
    recalls = RecallActions(client, target.find(client, session), zone, as_json)
    match plan:
        case RecallRequest():
            recalls.schedule(replace(plan, tz=zone_name(zone)))
        case "skip":
            recalls.skip()
        case "cancel":
            recalls.cancel()
        case "list":
            recalls.list_all()
        case _:
            recalls.show()
