"""`sm status`: all sessions at a glance."""

from __future__ import annotations

import click

from navi.cli import output


@click.command("status", help="Show all sessions: state, what each says it does, and its recall.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    from navi.cli.sm import lines
    from navi.client import Client, find_server

    client = Client(find_server())
    sessions = client.sessions()
    if as_json:
        output.say_json(sessions)
        return
    if not sessions:
        output.note("no sessions yet; the page that `navi serve` opens makes one")
        return
    now = client.now()
    rows = []
    for session in sessions:
        recall = session["pending_recall"]
        cells = [lines.named(session), session["state"], lines.status(session, now)]
        if recall is not None:
            task = lines.plain(recall["additional_context_message"], lines.LONGEST)
            cells.append(f"{lines.wakes(recall, now, None)}: {task}")
        rows.append(cells)
    output.columns(rows, " | ")
