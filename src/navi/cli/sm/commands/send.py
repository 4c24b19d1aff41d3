"""`sm send`: a message to a session."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Send TEXT to a session. `-` reads it from standard input.

\b
sm send builder "Run the tests and report what fails."
sm send builder "Stop: wrong branch. Switch to main." --urgent
sm send builder "Implement issue 12." --remind 5m
git diff | sm send reviewer -

SESSION is a name, an id, or at least the first 4 characters of an id. The receiver sees which agent
sent the text. Options may follow the text; put text that starts with a dash after `--`.
"""


@click.command("send", help=HELP)
@click.argument("session")
@click.argument("words", nargs=-1, metavar="TEXT")
@click.option(
    "--sequential", "mode", flag_value="sequential", help="Deliver in order (the default)."
)
@click.option(
    "--important", "mode", flag_value="important", help="Deliver next, when the current turn ends."
)
@click.option(
    "--urgent", "mode", flag_value="urgent", help="Deliver now, interrupting the running turn."
)
@click.option(
    "--remind",
    metavar="[DURATION]",
    is_flag=False,
    flag_value="",
    help="If it reports nothing for this long (180 or 5m), ask for its status; then interrupt it.",
)
@click.option(
    "--wait",
    metavar="SECONDS",
    help="Wait up to this long (60 or 5m) for the answer, and print it.",
)
@click.option(
    "--notify-on-delivery", is_flag=True, help="Notify the sender when TEXT is delivered."
)
@click.option("--notify-on-stop", is_flag=True, help="Notify the sender when the turn ends.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    session: str,
    words: tuple[str, ...],
    mode: str | None,
    remind: str | None,
    wait: str | None,
    notify_on_delivery: bool,
    notify_on_stop: bool,
    as_json: bool,
) -> None:
    from navi.base.errors import UsageError
    from navi.cli.sm import answer, lines, target
    from navi.cli.sm.words import seconds_of, text_of
    from navi.client import Client, find_server
    from navi.live.model.input import DeliveryMode

    text = text_of(words, "the text is missing", f'`sm send {session} "Run the tests."`')
    soft_seconds = soft_threshold(remind)
    seconds = None if wait is None else seconds_of(wait)
    sender = target.own_id_or_none()
    if sender is None and (notify_on_delivery or notify_on_stop):
        raise UsageError(
            "only an agent's session can be notified: NAVI_SESSION_ID is not set",
            hint="--wait SECONDS waits for the answer instead",
        )
    client = Client(find_server())
    receiver = target.find(client, session)
    admission = client.send(
        receiver["id"],
        text,
        delivery_mode=None if mode is None else DeliveryMode(mode),
        sender_session_id=sender,
        remind=remind is not None,
        remind_soft_threshold=soft_seconds,
        notify_on_delivery=notify_on_delivery,
        notify_on_stop=notify_on_stop,
    )
    if seconds is not None:
        answer.wait_for(client, receiver, admission["input_id"], seconds, as_json=as_json)
    elif as_json:
        output.say_json(admission)
    else:
        output.say(lines.delivery(receiver, admission))
        if admission["remind_soft_threshold"] is not None:
            from navi.cli.sm.timezone import own_timezone

            output.say(lines.reminder_plan(admission, client.now(), own_timezone()))


def soft_threshold(remind: str | None) -> int | None:
    """The seconds of --remind; None for the server's default."""
    from navi.base.errors import InvalidInput, UsageError
    from navi.cli.sm.words import seconds_of

    if not remind:
        return None
    try:
        seconds = seconds_of(remind)
    except InvalidInput:
        seconds = 0.0
    if seconds < 1 or not seconds.is_integer():
        raise UsageError(
            f"--remind {remind!r} is not a duration of 1s or more",
            hint='`sm send SESSION "TEXT" --remind 5m`; without a duration, put --remind last',
        )
    return int(seconds)
