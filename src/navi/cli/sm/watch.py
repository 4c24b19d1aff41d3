"""`sm watch`: all sessions, live."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from navi.cli import output

if TYPE_CHECKING:
    from navi.client import Client
    from navi.client.events import Events

HELP = """Watch all sessions until Ctrl-C: a live table on a terminal, one line per change
elsewhere.
"""

AGES_SECONDS = 5.0
"""So often the table is drawn anew when nothing happens, for ages grow."""
CALM_SECONDS = 0.2
"""A busy server would otherwise have the table drawn hundreds of times a second."""
SILENT = {
    *("thinking_delta", "stream_delta", "tool_started", "tool_call", "history_compacted"),
    "index_refreshed",
}
"""Events after which no line of the table looks different."""


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
            rows = [lines.cells(session, now, timezone) for session in sessions]
            output.screen([head, "", *output.aligned(rows, " | ")])
            _wait_for_change(events)


def _wait_for_change(events: Events) -> None:
    drawn_at = time.monotonic()
    while True:
        left = drawn_at + AGES_SECONDS - time.monotonic()
        event = events.next(max(0.0, left))
        if event is None:
            return
        if event["type"] not in SILENT:
            break
    # Those that come with it are drawn with it.
    calm_at = time.monotonic() + CALM_SECONDS
    while (left := calm_at - time.monotonic()) > 0:
        events.next(left)


def _print(client: Client, events: Events) -> None:
    from navi.cli.sm import lines

    shown: dict[str, str] = {}
    while True:
        for session in reversed(client.sessions()):
            line = " | ".join([lines.named(session), session["state"], lines.said(session)])
            if shown.get(session["id"]) != line:
                shown[session["id"]] = line
                output.say(line)
        while (event := events.next()) is None or event["type"] in SILENT:
            pass
