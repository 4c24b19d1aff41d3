"""`sm status`: list all sessions, or report the calling agent's status."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Show all sessions with their state, status and next wake-up.

With TEXT, an agent reports what it is doing; this also answers reminders:

\b
sm status "found 2 call sites, testing the fix"
"""


@click.command("status", help=HELP)
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--clear", "is_clear", is_flag=True, help="Clear the calling agent's status.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(words: tuple[str, ...], is_clear: bool, as_json: bool) -> None:
    if words or is_clear:
        report(" ".join(words) if words else None, as_json=as_json)
    else:
        overview(as_json=as_json)


def report(text: str | None, *, as_json: bool) -> None:
    from navi.base.errors import UsageError
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    if text is not None and not text.strip():
        raise UsageError(
            "the status is blank",
            hint='`sm status "running the tests"` reports one, `sm status --clear` clears it',
        )
    own = target.own_id("run it inside an agent that Navi started, or set NAVI_SESSION_ID")
    session = Client(find_server()).report_status(own, text)
    if as_json:
        output.say_json(session)
    elif session["agent_status_text"] is None:
        output.say("status: (no status)")
    else:
        output.say(f'status: "{lines.plain(session["agent_status_text"])}"')


def overview(*, as_json: bool) -> None:
    from navi.cli.sm import lines
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server

    client = Client(find_server())
    sessions = client.sessions()
    if as_json:
        output.say_json(sessions)
    elif not sessions:
        output.note('no sessions yet; `sm spawn "what to do"` starts one')
    else:
        now, timezone = client.now(), own_timezone()
        output.columns([lines.session_row(session, now, timezone) for session in sessions], " | ")
