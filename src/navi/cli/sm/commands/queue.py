"""`sm queue`: what waits for a session."""

from __future__ import annotations

import click

from navi.cli import output


@click.command("queue", help="Show what waits for SESSION, the next one first.")
@click.argument("session")
@click.option("--remove", metavar="INPUT", help="Remove this one, by the beginning of its id.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, remove: str | None, as_json: bool) -> None:
    from navi.base.errors import NotFound
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    meant = target.find(client, session)
    waiting = client.queue(meant["id"])
    if remove is not None:
        found = [each for each in waiting if each["id"].startswith(remove)]
        if len(found) != 1:
            what = "nothing that waits" if not found else f"{len(found)} inputs that wait"
            raise NotFound(
                f"{what} for {lines.named(meant)} has the id {remove!r}",
                hint=f"`sm queue {meant['id']}` lists them",
            )
        client.remove_input(meant["id"], found[0]["id"])
        if as_json:
            output.say_json(found[0])
        else:
            output.say(f"removed: {lines.plain(found[0]['text'], lines.LONGEST)}")
    elif as_json:
        output.say_json(waiting)
    elif not waiting:
        output.note(f"nothing waits for {lines.named(meant)}")
    else:
        now = client.now()
        rows = [lines.waiting(each, now) for each in waiting]
        output.table(["ID", "MODE", "FROM", "SINCE", "TEXT"], rows)
