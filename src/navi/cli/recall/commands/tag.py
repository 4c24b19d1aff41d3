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
    from navi.memory.index_paths import places
    from navi.memory.read.session_lookup import resolve

    where, now = places(), clock().now()
    if not where.database.exists():
        raise NoIndex
    if tags:
        session, current = tagging.change(where, id, tags, now, is_added=is_added)
    else:
        with database.reading(where) as connection:
            session = resolve(connection, id)
            current = tagging.tags_of(connection, session)
    if as_json:
        output.say_json({"session_id": session, "tags": current})
    else:
        output.say(f"{session}: {' '.join(f'#{tag}' for tag in current) or 'no tags'}")
