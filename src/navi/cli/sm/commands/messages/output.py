"""`sm output`: what a session's agent said last."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.raw_option import raw_option
from navi.cli.sm.session_completion import complete_session

HELP = """Print what SESSION's agent said in its last turn.

Marks the session as read, unless an agent runs this or --json is given.
"""


@click.command("output", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.option(
    "-n",
    "--turns",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="Number of turns to print.",
)
@raw_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, turns: int, as_json: bool) -> None:
    from navi.cli.sm import lines, reader, target
    from navi.cli.sm.commands.messages import transcript
    from navi.client import Client, find_server

    client = Client(find_server())
    record = target.find(client, session)
    messages = transcript.last_turns(client.messages(record["id"]), turns)
    if as_json:
        output.say_json(messages)
        return
    texts = [message["content"] for message in messages if message["content"]]
    if not texts:
        output.note(f"{lines.title_and_id(record)} has said nothing yet")
    for text in texts:
        output.say(text)
    for message in messages:
        if (end := transcript.ending(message)) is not None:
            output.note(f"[{end}]")
    reader.mark_read(client, record)
