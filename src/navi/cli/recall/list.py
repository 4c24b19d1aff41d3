"""`recall list`: sessions, the latest first."""

from __future__ import annotations

from datetime import datetime

import click

from navi.cli import formats, output
from navi.cli.recall.options import (
    clock,
    json_option,
    project_option,
    shown_source,
    since_option,
    source_option,
)


@click.command("list", help="List sessions, the latest first.")
@source_option
@since_option
@project_option
@click.option("--tag", help="Only those tagged so.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="How many; 0 for all.",
)
@json_option
def command(
    source: str | None,
    since: datetime | None,
    project: str | None,
    tag: str | None,
    limit: int,
    as_json: bool,
) -> None:
    from navi.index import database
    from navi.index.listing import Wanted, sessions
    from navi.index.places import places

    wanted = Wanted(source, since, project, tag)
    with database.reading(places()) as connection:
        found = sessions(connection, wanted, limit or None)
    if as_json:
        from navi.index.shapes import session_json

        output.say_json([session_json(each) for each in found])
        return
    if not found:
        output.note("no sessions; `recall index` reads the agents' files")
        return
    now = clock().now()
    rows = []
    for each in found:
        marks = ["sub-agent"] * each["is_subagent"] + ["file gone"] * each["is_archived"]
        marks += ["incomplete"] * (not each["is_complete"]) + [
            f"#{tag}" for tag in each["tags"] or []
        ]
        rows.append(
            [
                each["id"],
                formats.age(each["ended_at"] or each["started_at"], now),
                shown_source(each["source"]),
                str(each["message_count"]),
                str(each["tool_count"]),
                formats.shortened(formats.home_short(each["project"] or ""), 40, keep_end=True),
                formats.shortened(each["title"] or "", 40)
                + " ".join(f" [{mark}]" for mark in marks),
            ]
        )
    output.table(["ID", "LATEST", "SOURCE", "MSGS", "TOOLS", "PROJECT", "TITLE"], rows)
