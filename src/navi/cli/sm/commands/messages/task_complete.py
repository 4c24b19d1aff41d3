"""`sm task-complete`: report that the calling agent's task is done."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Report that the calling agent's task is done. TEXT can say how it went.

Notifies the agent's parent, clears the task, and stops the periodic status reminders.
"""


@click.command("task-complete", help=HELP)
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(words: tuple[str, ...], as_json: bool) -> None:
    from navi.cli.sm import target
    from navi.client import Client, find_server

    own = target.own_id("run it inside an agent that Navi started, or set NAVI_SESSION_ID")
    is_parent_notified = Client(find_server()).complete_task(own, " ".join(words) or None)
    if as_json:
        output.say_json({"parent_told": is_parent_notified})
    else:
        output.say(
            "done; the parent was notified"
            if is_parent_notified
            else "done; there is no parent to notify"
        )
