"""`recall stats tools`: how often each tool was used."""

from __future__ import annotations

from datetime import datetime

import click

from navi.cli import formats, output
from navi.cli.recall.no_matches import explain_no_stats, host_for_statistics
from navi.cli.recall.options import (
    host_option,
    json_option,
    project_option,
    since_option,
    source_option,
)
from navi.cli.table import Column


@click.command("tools", help="Show how often each tool was used.")
@source_option
@since_option
@project_option
@host_option
@json_option
def command(
    source: str | None,
    since: datetime | None,
    project: str | None,
    host: str | None,
    as_json: bool,
) -> None:
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.read import statistics

    scope = statistics.Scope(source, project, since, host=host_for_statistics(host))
    with database.reading(index_paths()) as connection:
        rows = statistics.tools(connection, scope)
    if as_json:
        output.say_json(rows)
        return
    if not rows:
        explain_no_stats("tool calls", source, project, since, host)
        return
    largest = max(row["count"] for row in rows)
    output.table(
        [
            Column("TOOL", needed_width=20, style="cyan"),
            Column("USES", is_number=True),
            Column("SESSIONS", is_number=True),
            Column("", rank=1, style="dim"),
        ],
        [
            [
                row["tool_name"],
                f"{row['count']:,}",
                f"{row['sessions']:,}",
                formats.bar(row["count"] / largest),
            ]
            for row in rows
        ],
    )
