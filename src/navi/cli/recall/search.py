"""`recall search`: find what was said, thought or run."""

from __future__ import annotations

from typing import Any

import click

from navi.cli.recall.options import json_option, project_option, since_option, source_option
from navi.cli.recall.plain import DEFAULT_PASSAGES, MOST_PASSAGES, ROLES


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@source_option
@click.option("--tool", help="Only messages that used this tool, and its commands.")
@project_option
@since_option
@click.option("--role", type=click.Choice(ROLES), help="Who said it.")
@click.option("--session", help="Only in this session: an id or the beginning of one.")
@click.option(
    "--limit",
    type=click.IntRange(1, MOST_PASSAGES),
    default=DEFAULT_PASSAGES,
    show_default=True,
    help="How many passages.",
)
@json_option
def command(**given: Any) -> None:
    """Find what was said, thought or run.

    All words must be in the passage. "quoted words" stand side by side, begin* finds words that
    begin so, -word leaves out passages with it (after `--`, so that it is not taken for an option).
    """
    from navi.cli.recall.found import show

    show(**given)
