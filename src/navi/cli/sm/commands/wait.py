"""`sm wait`: wait until a session is idle."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Wait until SESSION is idle with an empty queue, or has ended.

Waits up to SECONDS, or a duration such as 10m (default: one hour). Fails if the time runs out.
"""

DEFAULT_SECONDS = 3600.0


@click.command("wait", help=HELP)
@click.argument("session")
@click.argument("seconds", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, seconds: str | None, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.cli.sm.answer import NotInTime
    from navi.cli.sm.words import seconds_of
    from navi.client import Client, find_server

    limit = DEFAULT_SECONDS if seconds is None else seconds_of(seconds)
    client = Client(find_server())
    record = target.find(client, session)
    result = client.wait(record["id"], limit)
    if as_json:
        output.say_json(result["session"])
    if not result["idle"]:
        raise NotInTime(
            f"{lines.title_and_id(record)} is still {result['session']['state']} "
            f"after {limit:g} seconds",
            hint=f"`sm tail {record['id']}` shows what it is doing",
        )
    if not as_json:
        output.say(f"{lines.title_and_id(result['session'])} is {result['session']['state']}")
