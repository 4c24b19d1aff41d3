"""`sm recall`: a session's wake-up: schedule, show, skip, cancel, list."""

from __future__ import annotations

import click

HELP = """Wake a session later: it gets INSTRUCTION as a turn of its own.

\b
sm recall builder "30m" "Read build.log; if it failed, report its last 50 lines."
sm recall builder "tomorrow at 9" "Read errors.log; sum up what is new." --every 1d
sm recall builder --now "Go on with step 3 of plan.md."
sm recall builder --cancel

SESSION is an id, at least 4 characters of its beginning, or a name. With SESSION alone, shows the
recall that is pending. `navi when` tells how a time would be read. With --every, WHEN may be left
out: the first turn is then one beat away.
"""


@click.command("recall", help=HELP)
@click.argument("session")
@click.argument("texts", nargs=-1, metavar="[WHEN] [INSTRUCTION]")
@click.option("--every", metavar="DURATION", help="Again and again, at this distance: 15m, 2h, 1d.")
@click.option("--now", "is_now", is_flag=True, help="At once, in place of WHEN.")
@click.option("--comment", metavar="TEXT", help="A note about why, which the agent is not told.")
@click.option(
    "--tz",
    metavar="ZONE",
    help="The zone of WHEN and of the times shown, like Europe/Paris.  [default: yours]",
)
@click.option("--timezone", metavar="±HH:MM", help="The same as an offset from UTC.")
@click.option("--skip", is_flag=True, help="Leave out the next beat.")
@click.option("--cancel", is_flag=True, help="Cancel the pending recall.")
@click.option("--list", "listing", is_flag=True, help="List all recalls, also past ones.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    session: str,
    texts: tuple[str, ...],
    every: str | None,
    is_now: bool,
    comment: str | None,
    tz: str | None,
    timezone: str | None,
    skip: bool,
    cancel: bool,
    listing: bool,
    as_json: bool,
) -> None:
    # Imported here, so that --help and completions need not wait for them.
    from dataclasses import replace

    from navi.base.timezone import zone_name
    from navi.cli import timezone_options
    from navi.cli.sm import target
    from navi.cli.sm.recall_answer import Answer
    from navi.cli.sm.recall_plan import read
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server
    from navi.live.model.scheduling.recall_request import RecallRequest

    zone = timezone_options.read(tz, timezone) or own_timezone()
    chosen = {"skip": skip, "cancel": cancel, "list": listing}
    actions = [name for name, is_chosen in chosen.items() if is_chosen]
    wanted = read(session, texts, actions, every=every, is_now=is_now, comment=comment)
    client = Client(find_server())
    answer = Answer(client, target.find(client, session), zone, as_json)
    match wanted:
        case RecallRequest():
            tz = None if timezone else zone_name(zone)
            answer.schedule(replace(wanted, tz=tz, timezone_offset=timezone))
        case "skip":
            answer.skip()
        case "cancel":
            answer.cancel()
        case "list":
            answer.listing()
        case _:
            answer.show()
