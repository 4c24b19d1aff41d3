"""`recall list`: sessions, the latest first."""

from __future__ import annotations

from typing import Any

import click

from navi.cli.recall.options import json_option, project_option, since_option, source_option
from navi.cli.recall.plain import DEFAULT_SESSIONS


@click.command("list", help="List sessions, the latest first.")
@source_option
@since_option
@project_option
@click.option("--tag", help="Only those tagged so.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=DEFAULT_SESSIONS,
    show_default=True,
    help="How many; 0 for all.",
)
@json_option
def command(**given: Any) -> None:
    from navi.cli.recall.listed import show

    show(**given)
