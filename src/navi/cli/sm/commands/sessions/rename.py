"""`sm rename`: give a session another name."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session

HELP = """Give SESSION another name.

\b
sm rename builder "docs builder"
"""


@click.command("rename", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.argument("words", nargs=-1, metavar="NAME")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, words: tuple[str, ...], as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.cli.sm.words import text_of
    from navi.client import Client, find_server

    name = text_of(words, "the new name is missing", f'`sm rename {session} "docs builder"`')
    client = Client(find_server())
    record = target.find(client, session)
    changed = client.change_session(record["id"], {"name": name})
    if as_json:
        output.say_json(changed)
        return
    old_title = lines.plain(record["title"], lines.LONGEST)
    output.say(f"renamed {old_title} to {lines.title_and_id(changed)}")
    target.warn_of_namesakes(client, changed)
