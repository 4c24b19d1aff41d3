"""`sm wait`: wait until a session is idle."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session

HELP = """Wait until SESSION is idle with an empty queue, or has ended.

Waits up to DURATION (like 90s or 10m; default: one hour). Fails if the time runs out.
"""

DEFAULT_SECONDS = 3600.0


@click.command("wait", help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.argument("duration", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(session: str, duration: str | None, as_json: bool) -> None:
    from navi.cli.sm import inbox_lines, lines, target
    from navi.cli.sm.answer import NotInTime, open_question
    from navi.cli.sm.words import seconds_of
    from navi.client import Client, find_server

    limit = DEFAULT_SECONDS if duration is None else seconds_of(duration)
    client = Client(find_server())
    record = target.find(client, session)
    result = client.wait(record["id"], limit)
    if as_json:
        output.say_json(result["session"])
    if not result["idle"]:
        title, id, state = lines.title_and_id(record), record["id"], result["session"]["state"]
        if (question := open_question(client, id)) is not None:
            problem = f"{title} {inbox_lines.asks(question)}"
            raise NotInTime(problem, hint=inbox_lines.how_to_answer([question]) or "")
        if state == "idle":
            problem = f"{title} has inputs in its queue after {limit:g} seconds"
            raise NotInTime(problem, hint=f"`sm queue {id}` shows them")
        problem = f"{title} is still {state} after {limit:g} seconds"
        raise NotInTime(problem, hint=f"`sm tail {id}` shows what it is doing")
    if not as_json:
        output.say(f"{lines.title_and_id(result['session'])} is {result['session']['state']}")
