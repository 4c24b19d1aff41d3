"""`sm watch`: all sessions, live."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from navi.cli import output

if TYPE_CHECKING:
    from navi.client import Client
    from navi.client.event_stream import Events

HELP = """Watch all sessions until Ctrl-C: a live table on a terminal, one line per change
elsewhere.
"""

REDRAW_SECONDS = 5.0
"""How often to redraw the table when nothing happens, so that ages stay correct."""
PAUSE_SECONDS = 0.2
"""Without this pause, a busy server would redraw the table hundreds of times a second."""
INVISIBLE_EVENTS = {
    *("thinking_delta", "stream_delta", "tool_started", "tool_call", "history_compacted"),
    "index_refreshed",
}
"""Events that don't change any row of the table."""


@click.command("watch", help=HELP)
def command() -> None:
    from navi.client import Client, find_server

    client = Client(find_server())
    events = client.events()
    try:
        if sys.stdout.isatty():
            _draw(client, events)
        else:
            _print(client, events)
    finally:
        events.close()


def _draw(client: Client, events: Events) -> None:
    from navi.cli.sm import lines
    from navi.cli.sm.timezone import own_timezone

    timezone = own_timezone()
    with output.whole_screen():
        while True:
            sessions = client.sessions()
            now = client.now()
            running = sum(session["state"] == "running" for session in sessions)
            head = f"sessions: {len(sessions)}, running: {running}; Ctrl-C quits"
            rows = [lines.session_row(session, now, timezone) for session in sessions]
            output.screen([head, "", *output.aligned(rows, " | ")])
            _wait_for_change(events)


def _wait_for_change(events: Events) -> None:
    drawn_at = time.monotonic()
    while True:
        left = drawn_at + REDRAW_SECONDS - time.monotonic()
        event = events.next(max(0.0, left))
        if event is None:
            return
        if event["type"] not in INVISIBLE_EVENTS:
            break
    # Events come in bursts: draw once for all of them.
    resume_at = time.monotonic() + PAUSE_SECONDS
    while (left := resume_at - time.monotonic()) > 0:
        events.next(left)


def _print(client: Client, events: Events) -> None:
    from navi.cli.sm import lines

    printed: dict[str, str] = {}
    while True:
        for session in reversed(client.sessions()):
            cells = [lines.title_and_id(session), session["state"], lines.status_text(session)]
            line = " | ".join(cells)
            if printed.get(session["id"]) != line:
                printed[session["id"]] = line
                output.say(line)
        while (event := events.next()) is None or event["type"] in INVISIBLE_EVENTS:
            pass
