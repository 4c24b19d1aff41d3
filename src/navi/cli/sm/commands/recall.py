"""`sm recall`: schedule, show, skip, cancel or list a session's wake-ups."""

from __future__ import annotations

import click

HELP = """Wake a session later, in a new turn that begins with INSTRUCTION.

\b
sm recall builder "30m" "Read build.log; if it failed, report its last 50 lines."
sm recall builder "tomorrow at 9" "Read errors.log; summarize what is new." --every 1d
sm recall builder --now "Go on with step 3 of plan.md."
sm recall builder --cancel

SESSION is a name, an id, or at least the first 4 characters of an id. SESSION alone shows the
pending recall. `navi when` shows how Navi reads a time. With --every, WHEN is optional: the first
turn then comes after one interval.
"""


@click.command("recall", help=HELP)
@click.argument("session")
@click.argument("texts", nargs=-1, metavar="[WHEN] [INSTRUCTION]")
@click.option("--every", metavar="DURATION", help="Repeat at this interval: 15m, 2h, 1d.")
@click.option("--now", "is_now", is_flag=True, help="Wake it now, instead of at WHEN.")
@click.option("--comment", metavar="TEXT", help="A note for people; the agent doesn't see it.")
@click.option(
    "--tz",
    metavar="ZONE",
    help="Time zone, like Europe/Paris.  [default: your own]",
)
@click.option("--timezone", metavar="±HH:MM", help="Time zone as an offset from UTC.")
@click.option("--skip", is_flag=True, help="Skip the next wake-up.")
@click.option("--cancel", is_flag=True, help="Cancel the pending recall.")
@click.option("--list", "list_all", is_flag=True, help="List all recalls, including past ones.")
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
    list_all: bool,
    as_json: bool,
) -> None:
    # Imported here so that --help and completions start quickly.
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
    chosen = {"skip": skip, "cancel": cancel, "list": list_all}
    actions = [name for name, is_chosen in chosen.items() if is_chosen]
    plan = read(session, texts, actions, every=every, is_now=is_now, comment=comment)
    client = Client(find_server())
    answer = Answer(client, target.find(client, session), zone, as_json)
    match plan:
        case RecallRequest():
            tz = None if timezone else zone_name(zone)
            answer.schedule(replace(plan, tz=tz, timezone_offset=timezone))
        case "skip":
            answer.skip()
        case "cancel":
            answer.cancel()
        case "list":
            answer.list_all()
        case _:
            answer.show()
