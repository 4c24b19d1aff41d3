"""`sm output`: what a session's agent said last."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.raw_option import raw_option


@click.command("output", help="Print what SESSION's agent said in its last turn.")
@click.argument("session")
@click.option(
    "-n", "--turns", default=1, type=click.IntRange(min=1), help="Number of turns to print."
)
@raw_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, turns: int, as_json: bool) -> None:
    from navi.cli.sm import lines, target, transcript
    from navi.client import Client, find_server

    client = Client(find_server())
    meant = target.find(client, session)
    said = transcript.last_turns(client.messages(meant["id"]), turns)
    if as_json:
        output.say_json(said)
        return
    texts = [message["content"] for message in said if message["content"]]
    if not texts:
        output.note(f"{lines.named(meant)} has said nothing yet")
    for text in texts:
        output.say(text)
    for message in said:
        if (end := transcript.ending(message)) is not None:
            output.note(f"[{end}]")
