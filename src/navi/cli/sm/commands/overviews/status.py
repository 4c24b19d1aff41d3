"""`sm status`: list all sessions, or report the calling agent's status."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Show all sessions: state, last activity, status, and what wakes them next.

Sessions that need you come first: their agent is waiting for your answer, or their last turn failed
or finished and you haven't seen it yet.

With TEXT, an agent reports what it is doing. This also answers a status reminder:

\b
sm status "found 2 call sites, testing the fix"
"""


@click.command("status", help=HELP)
@click.argument("words", nargs=-1, metavar="[TEXT]")
@click.option("--all", "is_all", is_flag=True, help="Include archived sessions.")
@click.option("--clear", "is_clear", is_flag=True, help="Clear the calling agent's status.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(words: tuple[str, ...], is_all: bool, is_clear: bool, as_json: bool) -> None:
    if words or is_clear:
        report(" ".join(words) if words else None, as_json=as_json)
    else:
        print_overview(is_all=is_all, as_json=as_json)


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


def print_overview(*, is_all: bool, as_json: bool) -> None:
    from navi.cli.sm import lines, overview, target
    from navi.cli.sm.timezone import own_timezone
    from navi.client import Client, find_server

    client = Client(find_server())
    sessions = client.sessions(archived=True)
    listed = [each for each in sessions if is_all or overview.is_listed(each)]
    if as_json:
        output.say_json(listed)
        return
    if not sessions:
        output.note('no sessions yet; `sm spawn "what to do"` starts one')
    if listed:
        if target.own_id_or_none() is None:
            output.note(overview.summary(listed))
        questions = overview.open_questions(client, listed)
        zone = own_timezone()
        agenda, now = client.agenda(), client.now()
        output.table(overview.COLUMNS, overview.rows(listed, agenda, now, zone, questions))
        if (reason := lines.held_by_terminals(agenda, now)) is not None:
            output.note(reason)
    if len(listed) < len(sessions):
        output.note(f"{len(sessions) - len(listed)} archived; `sm status --all` shows them")
