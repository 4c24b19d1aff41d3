"""`sm task`: what the calling agent was asked to do."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Show the calling agent's task, or set it to TEXT. The task is what the agent was
asked to do; `sm status "..."` reports what it is doing right now.
"""


@click.command("task", help=HELP)
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--clear", "is_clear", is_flag=True, help="Clear the task.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(words: tuple[str, ...], is_clear: bool, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    own = target.own_id("run it inside an agent that Navi started, or set NAVI_SESSION_ID")
    client = Client(find_server())
    if words or is_clear:
        session = client.change_session(own, {"task": None if is_clear else " ".join(words)})
    else:
        session = client.session(own)
    if as_json:
        output.say_json(session)
    else:
        output.say(f"task: {lines.plain(session['task'])}" if session["task"] else "(no task)")
