"""`sm remind`: set, list, cancel and stop reminders."""

from __future__ import annotations

import click

from navi.cli import output

FORMS = (
    "DELAY MESSAGE [--to SESSION]",
    "--list [SESSION]",
    "--cancel REMINDER",
    "SESSION --stop",
)
HELP = """Remind the calling agent once, after DELAY (like 90s or 5m; a bare number is seconds). The
reminder interrupts a running turn.

\b
sm remind 300 "check on the build"
sm remind 5m "check on the build" --to builder
sm remind --list
sm remind --cancel 5861aa8eb906bfae
sm remind builder --stop

--list shows one-off reminders, and sessions that will be asked for their status (see
`sm send --remind`). --stop ends these status requests. With --stop, the first argument
is always a session, even if it looks like a delay.
"""
USAGE_HINT = (
    '`sm remind DELAY "MESSAGE"` sets a one-off reminder; '
    "`sm remind --list [SESSION]` shows all of them; "
    "`sm remind --cancel REMINDER` and `sm remind SESSION --stop` end them"
)


class _RemindCommand(click.Command):
    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        prefix = "Usage: "
        for form in FORMS:
            formatter.write_usage(ctx.command_path, form, prefix)
            prefix = " " * len(prefix)


@click.command("remind", cls=_RemindCommand, help=HELP)
@click.argument("first", metavar="[DELAY|SESSION|REMINDER]", required=False)
@click.argument("words", nargs=-1, metavar="[MESSAGE]")
@click.option("--list", "is_list", is_flag=True, help="Show all reminders, or SESSION's.")
@click.option("--cancel", "is_cancel", is_flag=True, help="Cancel a one-off reminder.")
@click.option("--stop", "is_stop", is_flag=True, help="Stop asking SESSION for its status.")
@click.option("--to", metavar="SESSION", help="Remind this session instead of the calling one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    first: str | None,
    words: tuple[str, ...],
    is_list: bool,
    is_cancel: bool,
    is_stop: bool,
    to: str | None,
    as_json: bool,
) -> None:
    from navi.base.errors import UsageError

    if not (is_list or is_cancel or is_stop):
        if first is None:
            raise UsageError("the delay is missing", hint=USAGE_HINT)
        remind_once(first, words, to, as_json=as_json)
    elif is_list + is_cancel + is_stop > 1 or words or to is not None:
        raise UsageError(
            "--list, --cancel and --stop can't be combined with a message, --to or each other",
            hint=USAGE_HINT,
        )
    elif is_list:
        list_reminders(first, as_json=as_json)
    elif first is None:
        raise UsageError("the session or reminder is missing", hint=USAGE_HINT)
    elif is_cancel:
        cancel(first, as_json=as_json)
    else:
        stop(first, as_json=as_json)


def remind_once(delay: str, words: tuple[str, ...], to: str | None, *, as_json: bool) -> None:
    from datetime import datetime

    from navi.base.errors import InvalidInput, UsageError
    from navi.base.time_expressions import describe_moment
    from navi.cli.sm import lines, target
    from navi.cli.sm.timezone import own_timezone
    from navi.cli.sm.words import seconds_of, text_of
    from navi.client import Client, find_server

    try:
        seconds = seconds_of(delay)
    except InvalidInput as error:
        raise UsageError(
            f"{delay!r} is not a delay",
            hint=f'`sm remind 300 "..."`, or `sm remind {delay} --stop`',
        ) from error
    message = text_of(words, "the message is missing", f'`sm remind {delay} "check the build"`')
    own = None if to is not None else target.own_id(f'`sm remind {delay} "..." --to SESSION`')
    client = Client(find_server())
    session_id = own or target.find(client, to or "")["id"]
    reminder = client.schedule_reminder(session_id, seconds, message)
    if as_json:
        output.say_json(reminder)
        return
    at = describe_moment(datetime.fromisoformat(reminder["fires_at"]), own_timezone())
    delay_text = lines.duration(int(seconds)) if seconds >= 1 else f"{seconds:g} s"
    output.say(f"reminder {reminder['reminder_id']} is due in {delay_text}, {at}")


def list_reminders(session: str | None, *, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.cli.table import Column
    from navi.client import Client, find_server

    client = Client(find_server())
    if session is None:
        sessions = client.sessions(archived=True)
    else:
        sessions = [target.find(client, session)]
    reminders = client.reminders(None if session is None else sessions[0]["id"])
    if as_json:
        output.say_json(reminders)
    elif not reminders:
        output.note("no reminders")
    else:
        titles = {each["id"]: each["title"] for each in sessions}
        from navi.cli.sm.timezone import own_timezone

        zone = own_timezone()
        rows = [lines.reminder_row(each, titles, client.now(), zone) for each in reminders]
        columns = [
            Column("ID", style="dim"),
            Column("SESSION", needed_width=12),
            Column("KIND", rank=2),
            Column("NEXT", needed_width=16),
            Column("TEXT", needed_width=12, rank=1),
        ]
        output.table(columns, rows)


def cancel(reminder_id: str, *, as_json: bool) -> None:
    from navi.base.errors import NotFound
    from navi.cli.sm import lines
    from navi.client import Client, ServerRefused, find_server

    try:
        cancelled = Client(find_server()).cancel_reminder(reminder_id)
    except ServerRefused as error:
        if error.server_kind != "reminder_not_found":
            raise
        raise NotFound(
            error.message,
            hint="`sm remind --list` lists them; `sm remind SESSION --stop` ends periodic ones",
        ) from error
    if as_json:
        output.say_json(cancelled)
    else:
        output.say(f"cancelled: {lines.plain(cancelled['message'], lines.LONGEST)}")


def stop(session: str, *, as_json: bool) -> None:
    from navi.cli.sm import lines, target
    from navi.client import Client, find_server

    client = Client(find_server())
    record = target.find(client, session)
    stopped = client.stop_reminding(record["id"])
    if as_json:
        output.say_json(stopped)
    else:
        output.say(f"{lines.title_and_id(record)} is no longer reminded")
