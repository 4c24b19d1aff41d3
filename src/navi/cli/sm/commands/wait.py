"""`sm wait`: wait until a session is idle."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Wait until SESSION is idle with an empty queue, or has ended.

Waits up to SECONDS, or a duration such as 10m (default: one hour). Fails if the time runs out.
"""

AN_HOUR = 3600.0


@click.command("wait", help=HELP)
@click.argument("session")
@click.argument("seconds", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, seconds: str | None, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.cli.sm.answer import NotInTime
    from navi.cli.sm.words import seconds_of
    from navi.client import Client, find_server

    longest = AN_HOUR if seconds is None else seconds_of(seconds)
    client = Client(find_server())
    record = target.find(client, session)
    rest = client.wait(record["id"], longest)
    if as_json:
        output.say_json(rest["session"])
    if not rest["idle"]:
        raise NotInTime(
            f"{lines.named(record)} is still {rest['session']['state']} after {longest:g} seconds",
            hint=f"`sm tail {record['id']}` shows what it is doing",
        )
    if not as_json:
        output.say(f"{lines.named(rest['session'])} is {rest['session']['state']}")
