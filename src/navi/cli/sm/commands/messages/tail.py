"""`sm tail`: show a session's last messages; -f follows new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from navi.cli import output
from navi.cli.raw_option import raw_option
from navi.cli.sm.session_completion import complete_session

if TYPE_CHECKING:
    from navi.client import Client
    from navi.client.event_stream import Events
    from navi.live.model.wire_format import SessionJson


SHARED_DRIVERS = ("claude_code", "codex")
"""People may also use these sessions in their own terminals, of which Navi keeps no transcript."""

HELP = """Show the last messages of SESSION, with tool calls.

Long texts are cut; --full shows them whole. Showing messages marks the session as read, unless an
agent runs this or --json is given.
"""


@click.command("tail", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.option(
    "-n",
    "--messages",
    "count",
    default=20,
    show_default=True,
    type=click.IntRange(min=0),
    help="Number of messages to show.",
)
@click.option(
    "-f", "--follow", is_flag=True, help="Keep printing new messages and tool calls until Ctrl-C."
)
@click.option("--full", "is_full", is_flag=True, help="Don't cut long texts.")
@raw_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, count: int, follow: bool, is_full: bool, as_json: bool) -> None:
    from navi.base.errors import UsageError
    from navi.cli.sm import reader, target
    from navi.cli.sm.commands.messages import transcript
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
        for line in transcript.printable(message, timezone, is_full=is_full):
            output.say(line)
    if last:
        reader.mark_read(client, record)
    elif not messages:
        output.note(_explain_empty(record))
    if events is not None:
        transcript_ids = {message["id"] for message in messages}
        _follow(client, events, transcript_ids, is_full=is_full)


def _explain_empty(record: SessionJson) -> str:
    from navi.cli.sm import lines

    words = f"{lines.title_and_id(record)} has no messages yet"
    if record["driver"] in SHARED_DRIVERS:
        words += "; `recall list` and `recall search` show those from your own terminal"
    return words


def _follow(client: Client, events: Events, transcript_ids: set[str], *, is_full: bool) -> None:
    from navi.cli.sm import reader

    is_mid_line = False
    try:
        while True:
            event = events.next()
            if event is None or f"{event.get('turn_id')}.1" in transcript_ids:
                # No event, or one of a turn that was in the transcript already: `TURN.1` is the id
                # of its first message.
                continue
            if event["type"] == "stream_delta":
                output.stream(event["delta"])
                is_mid_line = True
                continue
            if event["type"] == "session_sync":
                reader.mark_read(client, event["session"])
            line = _line(event, transcript_ids, is_full)
            if line is None:
                continue
            if is_mid_line:
                output.say()
                is_mid_line = False
            output.say(line)
    finally:
        events.close()


def _line(event: dict[str, Any], transcript_ids: set[str], is_full: bool) -> str | None:
    from navi.cli.sm import lines
    from navi.cli.sm.commands.messages import transcript

    match event["type"]:
        case "input_delivered" if event["input"]["id"] not in transcript_ids:
            message = event["input"]
            text = transcript.beginning(message["text"], is_full=is_full)
            return f"{lines.sender(message, message['origin'])}: {text}"
        case "tool_call":
            return f"calls {transcript.describe_call(event, is_full=is_full)}"
        case "stream_end" if event["outcome"] != "ok":
            reason = f": {event['error']}" if event["error"] else ""
            return f"[{event['outcome']}{reason}]"
        case "stream_end":
            return "[end of turn]"
    return None
