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

HELP = """Watch all sessions until Ctrl-C: as a live table in a terminal, otherwise one line per
change.
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
    from navi.cli.sm import overview
    from navi.cli.sm.timezone import own_timezone

    zone = own_timezone()
    with output.separate_screen():
        while True:
            sessions = client.sessions()
            questions = overview.open_questions(client, sessions)
            rows = overview.rows(sessions, client.agenda(), client.now(), zone, questions)
            columns, height = output.screen_size()
            head, *table = output.table_lines(overview.COLUMNS, rows, columns)
            top = [f"{overview.summary(sessions)}; Ctrl-C quits", "", head]
            output.fill_screen([*top, *_fitting(table, height - 1 - len(top))])
            _wait_for_change(events)


def _fitting(lines: list[str], room: int) -> list[str]:
    """As many lines as fit, and how many more there are."""
    if len(lines) <= room:
        return lines
    visible = max(0, room - 1)
    return [*lines[:visible], f"+{len(lines) - visible} more"]


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
    from navi.cli.sm import inbox_lines, lines, overview
    from navi.cli.sm.timezone import own_timezone

    zone = own_timezone()
    last_lines: dict[str, str] = {}
    while True:
        sessions = client.sessions()
        questions = overview.open_questions(client, sessions)
        for session in reversed(sessions):
            question = questions.get(session["id"])
            status = lines.status_text(session) if question is None else inbox_lines.asks(question)
            state = overview.state(session, client.now(), zone)
            cells = [lines.title_and_id(session), state, status]
            line = " | ".join(cells)
            if last_lines.get(session["id"]) != line:
                last_lines[session["id"]] = line
                output.say(line)
        while (event := events.next()) is None or event["type"] in INVISIBLE_EVENTS:
            pass
