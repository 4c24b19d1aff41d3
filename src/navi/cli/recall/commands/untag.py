"""`recall untag`: remove tags from a session."""

from __future__ import annotations

import click

from navi.cli.recall.commands.tag import change
from navi.cli.recall.options import TagName, json_option, session_argument


@click.command("untag", help="Remove tags from a session.")
@session_argument
@click.argument("tags", nargs=-1, required=True, type=TagName())
@json_option
def command(id: str, tags: tuple[str, ...], as_json: bool) -> None:
    change(id, tags, as_json, is_added=False)
