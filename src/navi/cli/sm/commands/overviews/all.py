"""`sm all`: all sessions as a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from navi.cli import output

if TYPE_CHECKING:
    from navi.live.model.wire_format import SessionJson


@click.command("all", help="Show all sessions as a tree, with driver, task and folder.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    from navi.cli.formats import short_path
    from navi.cli.sm import lines
    from navi.client import Client, find_server

    client = Client(find_server())
    sessions = client.sessions()
    if as_json:
        output.say_json(sessions)
        return
    if not sessions:
        output.note('no sessions yet; `sm spawn "what to do"` starts one')
        return
    now = client.now()
    rows = [
        [
            "  " * depth + lines.title_and_id(session),
            session["state"],
            session["driver"],
            short_path(session["cwd"]),
            lines.status(session, now),
            *([f"task: {lines.plain(session['task'], lines.LONGEST)}"] if session["task"] else []),
        ]
        for depth, session in tree(sessions)
    ]
    output.columns(rows, " | ")


def tree(sessions: Sequence[SessionJson]) -> Iterator[tuple[int, SessionJson]]:
    """Yield each session after its parent, with its depth: 0 if its parent is not in the list."""
    ids = {session["id"] for session in sessions}
    children: dict[str | None, list[SessionJson]] = {}
    for session in sessions:
        parent_id = session["parent_id"] if session["parent_id"] in ids else None
        children.setdefault(parent_id, []).append(session)

    def walk(parent_id: str | None, depth: int) -> Iterator[tuple[int, SessionJson]]:
        for session in children.get(parent_id, []):
            yield depth, session
            yield from walk(session["id"], depth + 1)

    return walk(None, 0)
