"""`sm queue`: a session's undelivered inputs."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session


@click.command("queue", help="Show SESSION's queue, next input first.")
@click.argument("session", shell_complete=complete_session)
@click.option(
    "--remove", metavar="INPUT", help="Remove the input whose id is this or starts with this."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, remove: str | None, as_json: bool) -> None:
    from navi.base.errors import NotFound
    from navi.cli.sm import lines, target
    from navi.cli.table import Column
    from navi.client import Client, find_server

    client = Client(find_server())
    record = target.find(client, session)
    inputs = client.queue(record["id"])
    if remove is not None:
        matches = [each for each in inputs if each["id"].startswith(remove)]
        if len(matches) != 1:
            raise NotFound(
                f"{len(matches) or 'no'} queued inputs of {lines.title_and_id(record)} "
                f"match {remove!r}",
                hint=f"`sm queue {record['id']}` lists them",
            )
        client.remove_input(record["id"], matches[0]["id"])
        if as_json:
            output.say_json(matches[0])
        else:
            output.say(f"removed: {lines.plain(matches[0]['text'], lines.LONGEST)}")
    elif as_json:
        output.say_json(inputs)
    elif not inputs:
        output.note(f"the queue of {lines.title_and_id(record)} is empty")
    else:
        now = client.now()
        rows = [lines.input_row(each, now) for each in inputs]
        columns = [
            Column("ID", style="dim"),
            Column("MODE", rank=1),
            Column("FROM", needed_width=8, rank=2),
            Column("SINCE", rank=3),
            Column("TEXT", needed_width=16),
        ]
        output.table(columns, rows)
