"""`recall list`: sessions, the latest first."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from navi.cli import formats, output
from navi.cli.recall.masking import mask
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
    from navi.index.catalogue import Wanted, sessions
    from navi.index.places import places

    found = sessions(places(), Wanted(source, since, project, tag), limit or None)
    for each in found:
        each["title"] = mask(each["title"])
    if as_json:
        output.say_json(found)
        return
    if not found:
        output.note("no sessions; `recall index` reads the agents' files")
        return
    now = clock().now()
    rows = []
    for each in found:
        marks = ["sub-agent"] * each["is_subagent"] + ["file gone"] * each["is_archived"]
        marks += ["incomplete"] * (not each["is_complete"]) + [f"#{tag}" for tag in each["tags"]]
        rows.append(
            [
                each["id"],
                formats.age(_latest(each), now),
                shown_source(each["source"]),
                str(each["message_count"]),
                str(each["tool_count"]),
                formats.shortened(formats.home_short(each["project"] or ""), 40, keep_end=True),
                formats.shortened(each["title"] or "", 40)
                + " ".join(f" [{mark}]" for mark in marks),
            ]
        )
    output.table(["ID", "LATEST", "SOURCE", "MSGS", "TOOLS", "PROJECT", "TITLE"], rows)


def _latest(session: dict[str, Any]) -> datetime | None:
    written = session["ended_at"] or session["started_at"]
    return None if written is None else datetime.fromisoformat(written)
