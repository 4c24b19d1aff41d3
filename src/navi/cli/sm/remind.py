"""`sm remind`: a reminder for once; or the end of the repeated ones."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Remind the calling agent once, after DELAY: seconds, or like 5m. It interrupts.

\b
sm remind 300 "check on the build"
sm remind 5m "check on the build" --to builder
sm remind builder --stop

With --stop the first word is a session, also if it is all digits: that session is no longer asked
for its status (see `sm send --remind`).
"""


@click.command("remind", help=HELP)
@click.argument("first", metavar="DELAY|SESSION")
@click.argument("words", nargs=-1, metavar="[MESSAGE]")
@click.option("--stop", "is_stop", is_flag=True, help="Remind SESSION no more.")
@click.option("--to", metavar="SESSION", help="Remind this session, not the calling one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    first: str, words: tuple[str, ...], is_stop: bool, to: str | None, as_json: bool
) -> None:
    from navi.domain.errors import UsageError

    if not is_stop:
        once(first, words, to, as_json=as_json)
        return
    if words or to is not None:
        raise UsageError(
            "--stop takes a session and nothing else", hint=f"`sm remind {first} --stop`"
        )
    stop(first, as_json=as_json)


def once(delay: str, words: tuple[str, ...], to: str | None, *, as_json: bool) -> None:
    from datetime import datetime

    from navi.cli.sm import lines, target
    from navi.cli.sm.timezone import own_timezone
    from navi.cli.sm.words import seconds_of, text_of
    from navi.client import Client, find_server
    from navi.domain.errors import InvalidInput, UsageError
    from navi.domain.when import describe_moment

    try:
        seconds = seconds_of(delay)
    except InvalidInput as error:
        raise UsageError(
            f"{delay!r} is no delay", hint=f'`sm remind 300 "..."`, or `sm remind {delay} --stop`'
        ) from error
    message = text_of(words, "the message is missing", f'`sm remind {delay} "check the build"`')
    own = None if to is not None else target.own_id(f'`sm remind {delay} "..." --to SESSION`')
    client = Client(find_server())
    session_id = own or target.find(client, to or "")["id"]
    made = client.schedule_reminder(session_id, seconds, message)
    if as_json:
        output.say_json(made)
        return
    at = describe_moment(datetime.fromisoformat(made["fires_at"]), own_timezone())
    away = lines.length(int(seconds)) if seconds >= 1 else f"{seconds:g} s"
    output.say(f"reminder {made['reminder_id']} comes in {away}, {at}")


def stop(session: str, *, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    meant = target.find(client, session)
    stopped = client.stop_reminding(meant["id"])
    if as_json:
        output.say_json(stopped)
    else:
        output.say(f"{lines.named(meant)} is reminded no more")
