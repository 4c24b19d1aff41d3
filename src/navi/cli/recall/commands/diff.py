"""`recall diff`: two sessions side by side."""

from __future__ import annotations

import click

from navi.base.errors import UsageError
from navi.cli import output
from navi.cli.recall.options import SessionName, json_option

DEFAULT_ITEMS = 20


@click.command(
    "diff",
    help="Compare two sessions: prompts, commands, files, tools, cost and how they ended.",
    epilog="\b\nExamples:\n  recall diff 712f 9a03\n  recall diff 712f 9a03 --json",
)
@click.argument("first", type=SessionName(), metavar="A")
@click.argument("second", type=SessionName(), metavar="B")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    default=DEFAULT_ITEMS,
    show_default=True,
    help="Maximum number of items in each part; 0 for all.",
)
@json_option
def command(first: str, second: str, limit: int, as_json: bool) -> None:
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.overview.session_comparison import compare, comparison_json
    from navi.memory.overview.session_profile import profile
    from navi.memory.read.session_lookup import resolve

    with database.reading(index_paths()) as connection:
        ids = [resolve(connection, reference) for reference in (first, second)]
        if ids[0] == ids[1]:
            raise UsageError(
                f"{first} and {second} are the same session", hint="`recall list` shows others"
            )
        comparison = compare(*(profile(connection, id) for id in ids))
    if as_json:
        output.say_json(comparison_json(comparison))
        return
    from navi.cli.recall.comparison_view import show

    show(comparison, limit or None)
