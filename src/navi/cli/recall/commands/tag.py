"""`recall tag`: add tags to a session."""

from __future__ import annotations

import click

from navi.cli import output
from navi.cli.recall.options import TagName, clock, json_option, session_argument


@click.command("tag", help="Add tags to a session. Without TAGS, show the session's tags.")
@session_argument
@click.argument("tags", nargs=-1, type=TagName())
@json_option
def command(id: str, tags: tuple[str, ...], as_json: bool) -> None:
    change(id, tags, as_json, is_added=True)


def change(id: str, tags: tuple[str, ...], as_json: bool, *, is_added: bool) -> None:
    from navi.memory import database
    from navi.memory import tags as tagging
    from navi.memory.index_errors import NoIndex
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_lookup import resolve

    paths, now = index_paths(), clock().now()
    if not paths.database.exists():
        raise NoIndex
    if tags:
        session_id, current = tagging.change(paths, id, tags, now, is_added=is_added)
    else:
        with database.reading(paths) as connection:
            session_id = resolve(connection, id)
            current = tagging.tags_of(connection, session_id)
    if as_json:
        output.say_json({"session_id": session_id, "tags": current})
    else:
        output.say(f"{session_id}: {' '.join(f'#{tag}' for tag in current) or 'no tags'}")
