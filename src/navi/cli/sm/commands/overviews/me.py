"""`sm me`: the calling agent's own session."""

from __future__ import annotations

import click

from navi.cli import output


@click.command("me", help="Show the calling agent's own session.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server

    own = target.own_id("`sm status` shows all sessions")
    client = Client(find_server())
    session = client.session(own)
    if as_json:
        output.say_json(session)
        return
    now = client.now()
    rows = [
        ("session", lines.title_and_id(session)),
        ("state", session["state"]),
        ("status", lines.status(session, now)),
        ("task", lines.plain(session["task"]) if session["task"] else "(no task)"),
        ("parent", session["parent_id"] or "(none)"),
        ("driver", session["driver"]),
        ("folder", session["cwd"]),
    ]
    if (recall := session["pending_recall"]) is not None:
        rows.append(("recall", lines.wakes(recall, now, own_timezone())))
    output.columns(rows, "  ")
