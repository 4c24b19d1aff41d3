"""`sm send`: a message to a session."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session
from navi.cli.sm.session_help import SESSION_HELP

if TYPE_CHECKING:
    from collections.abc import Mapping

    from navi.live.model.input import DeliveryMode

HELP = f"""Send TEXT to a session. Use `-` to read TEXT from standard input.

\b
sm send builder "Run the tests and report what fails."
sm send builder "Stop: wrong branch. Switch to main." --urgent
sm send builder "Implement issue 12." --remind 5m
git diff | sm send reviewer -

{SESSION_HELP} If an agent sends the text, the receiver sees who sent it. Options may follow the
text; put text that starts with a dash after `--`.
"""


class _SendCommand(click.Command):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Click reads a negative number after an option with an optional value as another option.
        options = args[: args.index("--")] if "--" in args else args
        for option, value in pairwise(options):
            if option == "--remind" and re.fullmatch(r"-\d.*", value):
                reminder_delay(value)
        return super().parse_args(ctx, args)


@click.command("send", cls=_SendCommand, help=HELP)
@click.argument("session", shell_complete=complete_session)
@click.argument("words", nargs=-1, metavar="TEXT")
@click.option("--sequential", is_flag=True, help="Deliver in order (the default).")
@click.option("--important", is_flag=True, help="Deliver next, when the current turn ends.")
@click.option("--urgent", is_flag=True, help="Deliver now, interrupting the running turn.")
@click.option(
    "--remind",
    metavar="[DURATION]",
    is_flag=False,
    flag_value="",
    help="Ask the agent for its status if it hasn't reported one for this long (like 90s or 5m), "
    "and interrupt it if it doesn't respond. Without DURATION, the server's default.",
)
@click.option(
    "--wait",
    metavar="[DURATION]",
    is_flag=False,
    flag_value="1h",
    help="Wait up to this long (like 90s or 5m) for the answer, and print it. Without DURATION, up "
    "to an hour.",
)
@click.option(
    "--notify-on-delivery", is_flag=True, help="Notify the sending agent when TEXT is delivered."
)
@click.option(
    "--notify-on-stop",
    is_flag=True,
    help="Notify the sender when the turn started by TEXT ends. An agent gets a message. If you "
    "send it, the session is marked as finished, which otherwise doesn't happen to a session that "
    "another one started.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    session: str,
    words: tuple[str, ...],
    remind: str | None,
    wait: str | None,
    notify_on_delivery: bool,
    notify_on_stop: bool,
    as_json: bool,
    **modes: bool,
) -> None:
    from navi.base.errors import UsageError
    from navi.cli.sm import answer, lines, target
    from navi.cli.sm.words import seconds_of, text_of
    from navi.client import Client, find_server

    mode = delivery_mode(modes)
    text = text_of(words, "the text is missing", f'`sm send {session} "Run the tests."`')
    reminder_seconds = reminder_delay(remind)
    wait_seconds = None if wait is None else seconds_of(wait)
    sender = target.own_id_or_none()
    if sender is None and notify_on_delivery:
        raise UsageError(
            "only an agent can be notified of the delivery: NAVI_SESSION_ID is not set",
            hint="--notify-on-stop marks the session for you when its turn has ended",
        )
    client = Client(find_server())
    receiver = target.find(client, session)
    admission = client.send(
        receiver["id"],
        text,
        delivery_mode=mode,
        sender_session_id=sender,
        remind=remind is not None,
        remind_soft_threshold=reminder_seconds,
        notify_on_delivery=notify_on_delivery,
        notify_on_stop=notify_on_stop,
    )
    if wait_seconds is not None:
        answer.wait_for(client, receiver, admission["input_id"], wait_seconds, as_json=as_json)
    elif as_json:
        output.say_json(admission)
    else:
        output.say(lines.delivery(receiver, admission))
        if admission["paused"] is not None:
            output.note(lines.pause(admission["paused"]))
        if admission["remind_soft_threshold"] is not None:
            from navi.cli.sm.timezone import own_timezone

            output.say(lines.reminder_plan(admission, client.now(), own_timezone()))
        if notify_on_stop and sender is None:
            output.say("`sm status` and the page will show it as finished when the turn has ended")


def delivery_mode(modes: Mapping[str, bool]) -> DeliveryMode | None:
    """The mode that an option names; None if none does."""
    from navi.base.errors import UsageError
    from navi.live.model.input import DeliveryMode

    names = [mode for mode, is_set in modes.items() if is_set]
    if len(names) > 1:
        raise UsageError(
            f"--{names[0]} and --{names[1]} can't be combined",
            hint="--important waits for the end of the turn, --urgent interrupts it",
        )
    return DeliveryMode(names[0]) if names else None


def reminder_delay(remind: str | None) -> int | None:
    """The duration after --remind in seconds; None if there is none."""
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
            f"--remind {remind} is not a duration of 1s or more",
            hint='`sm send SESSION "TEXT" --remind 5m`; without a duration, put --remind last',
        )
    return int(seconds)
