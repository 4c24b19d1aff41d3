"""`navi notify`: test the channels on which Navi notifies you."""

from __future__ import annotations

import sys

import click

from navi.cli import output


@click.group("notify", help="Test the channels on which Navi notifies you.")
def command() -> None:
    pass


@command.command(
    "test",
    help="Send a test notification through CHANNEL, such as `ntfy`, or through all channels. Quiet "
    "hours don't apply.",
)
@click.argument("channel", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def test(channel: str | None, as_json: bool) -> None:
    from navi.client import Client, find_server

    results = Client(find_server()).test_notifications(channel)
    if as_json:
        output.say_json(results)
    else:
        for result in results:
            output.say(f"{result['channel']:12} {result['error'] or 'sent'}")
    sys.exit(1 if any(result["error"] for result in results) else 0)
