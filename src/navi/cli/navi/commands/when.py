"""`navi when`: show how Navi interprets a time."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

import click

from navi.base.errors import UsageError
from navi.base.time_expressions import describe, describe_length, parse_when
from navi.base.timestamps import instant
from navi.cli import output
from navi.cli.timezone_options import timezone_option
from navi.live.model.scheduling.recall import occurrences, parse_interval

if TYPE_CHECKING:
    from datetime import tzinfo

FOLLOWING_COUNT = 5
HELP = """Show how Navi interprets a time, without scheduling anything. Needs no server.

\b
navi when 2h 15m
navi when tomorrow at 9 --tz Europe/Paris
navi when "monday at 9" --every 1w
"""


@click.command("when", help=HELP)
@click.argument("words", nargs=-1, metavar="WHEN")
@click.option(
    "--every",
    metavar="DURATION",
    help=f"Also show the next {FOLLOWING_COUNT} times at this interval.",
)
@timezone_option("from the settings")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    words: tuple[str, ...],
    every: str | None,
    zone: tzinfo | None,
    as_json: bool,
) -> None:
    text = " ".join(words) or every
    if text is None:
        raise UsageError("the time is missing", hint='`navi when "tomorrow at 9"`')
    interval = None if every is None else parse_interval(every)
    if zone is None:
        from navi.live.runtime import settings

        zone = settings.timezone_of(settings.load())

    from navi.base.system_clock import SystemClock

    now = SystemClock().now()
    at = parse_when(text, now, zone)
    following = [] if interval is None else list(islice(occurrences(at, interval), FOLLOWING_COUNT))
    if as_json:
        readings = [
            {"trigger_at": instant(each), "reading": describe(each, now, zone)}
            for each in (at, *following)
        ]
        # The same keys as in the answer to POST /recalls/preview.
        output.say_json({**readings[0], "interval_seconds": interval, "beats": readings[1:]})
        return
    output.say(describe(at, now, zone))
    if interval is not None:
        output.say(f"then every {describe_length(timedelta(seconds=interval))}:")
    for each in following:
        output.say(f"  {describe(each, now, zone)}")
