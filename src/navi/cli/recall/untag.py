"""`recall untag`: take tags from a session."""

from __future__ import annotations

import click

from navi.cli.recall.options import json_option
from navi.cli.recall.tag import change


@click.command("untag", help="Take tags from a session.")
@click.argument("id")
@click.argument("tags", nargs=-1, required=True)
@json_option
def command(id: str, tags: tuple[str, ...], as_json: bool) -> None:
    change(id, tags, as_json, is_added=False)
