"""`sm tail`: show a session's last messages, and follow new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from navi.cli import output
from navi.cli.raw_option import raw_option

if TYPE_CHECKING:
    from navi.client.event_stream import Events


@click.command("tail", help="Show the last messages of SESSION, with tool calls.")
@click.argument("session")
@click.option(
    "-n",
    "--messages",
    "count",
    default=20,
    show_default=True,
    type=click.IntRange(min=0),
    help="Number of messages to show.",
)
@click.option("-f", "--follow", is_flag=True, help="Keep printing what happens, until Ctrl-C.")
@raw_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, count: int, follow: bool, as_json: bool) -> None:
    from navi.base.errors import UsageError
    from navi.cli.sm import target
    from navi.cli.sm.commands import transcript
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server

    if follow and as_json:
        raise UsageError("--follow and --json can't be combined", hint="use one or the other")
    client = Client(find_server())
    record = target.find(client, session)
    # Connect before reading the messages, so that nothing is missed in between.
    events = client.events(record["id"]) if follow else None
    messages = client.messages(record["id"])
    last = messages[-count:] if count else []
    if as_json:
        output.say_json(last)
        return
    timezone = own_timezone()
    for message in last:
        for line in transcript.printable(message, timezone):
            output.say(line)
    if events is not None:
        _follow(events, {message["id"] for message in messages})


def _follow(events: Events, printed_ids: set[str]) -> None:
    is_mid_line = False
    try:
        while True:
            event = events.next()
            if event is None or f"{event.get('turn_id')}.1" in printed_ids:
                continue  # the transcript already had this turn's messages
            if event["type"] == "stream_delta":
                output.stream(event["delta"])
                is_mid_line = True
                continue
            line = _line(event, printed_ids)
            if line is None:
                continue
            if is_mid_line:
                output.say()
                is_mid_line = False
            output.say(line)
    finally:
        events.close()


def _line(event: dict[str, Any], printed_ids: set[str]) -> str | None:
    from navi.cli.sm import lines
    from navi.cli.sm.commands import transcript

    match event["type"]:
        case "input_delivered" if event["input"]["id"] not in printed_ids:
            message = event["input"]
            return f"{lines.sender(message, message['origin'])}: {message['text']}"
        case "tool_call":
            return f"calls {transcript.describe_call(event)}"
        case "stream_end" if event["outcome"] != "ok":
            reason = f": {event['error']}" if event["error"] else ""
            return f"[{event['outcome']}{reason}]"
        case "stream_end":
            return "[end of turn]"
    return None
