"""`recall stats`: count sessions, tools, commands and tokens."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from navi.cli import formats, output
from navi.cli.command_group import CommandGroup
from navi.cli.recall.no_matches import explain_no_stats, host_for_statistics
from navi.cli.recall.options import (
    host_option,
    json_option,
    project_option,
    since_option,
    source_option,
)
from navi.cli.table import Column

COMMANDS = {
    "tools": ("navi.cli.recall.commands.stats_tools", "Show how often each tool was used."),
    "bash": (
        "navi.cli.recall.commands.stats_bash",
        "Show which commands ran, or suggest which to allow.",
    ),
    "tokens": ("navi.cli.recall.commands.stats_tokens", "Show tokens and their cost."),
}


@click.pass_context
def _overview(
    ctx: click.Context,
    source: str | None,
    since: datetime | None,
    project: str | None,
    host: str | None,
    as_json: bool,
) -> None:
    if ctx.invoked_subcommand is not None:
        # Options before the subcommand become its defaults.
        values = {name: value for name, value in ctx.params.items() if value}
        ctx.default_map = {ctx.invoked_subcommand: values}
        return
    from navi.base.timestamps import instant
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.read import statistics

    scope = statistics.Scope(source, project, since, host=host_for_statistics(host))
    with database.reading(index_paths()) as connection:
        totals = statistics.overview(connection, scope)
    if as_json:
        shape = {**totals, "first": instant(totals["first"]), "last": instant(totals["last"])}
        output.say_json(shape)
        return
    if totals["sessions"]:
        _show(totals)
    else:
        explain_no_stats("sessions", source, project, since, host)


def _show(totals: dict[str, Any]) -> None:
    if totals["first"] and totals["last"]:
        output.say(f"{formats.local_time(totals['first'])} to {formats.local_time(totals['last'])}")
        output.say()
    largest = max((each["messages"] for each in totals["by_source"].values()), default=0) or 1
    counts = ("sessions", "messages", "tool_calls", "input_tokens", "output_tokens")
    rows = [
        [
            formats.source(name),
            *(f"{each[key]:,}" for key in counts),
            formats.bar(each["messages"] / largest),
        ]
        for name, each in totals["by_source"].items()
    ]
    rows.append(["all", *(f"{totals[key]:,}" for key in counts), ""])
    heads = ("SESSIONS", "MESSAGES", "TOOLS", "TOKENS IN", "TOKENS OUT")
    output.table(
        [
            Column("SOURCE", style="cyan"),
            *(Column(head, is_number=True) for head in heads),
            Column("", rank=1, style="dim"),
        ],
        rows,
    )
    if totals["copied_messages"] or totals["copied_tool_calls"]:
        output.note(
            f"not counted twice: {formats.count(totals['copied_messages'], 'message')} and "
            f"{formats.count(totals['copied_tool_calls'], 'tool call')} "
            "that resumed or forked sessions copied"
        )


command = CommandGroup(
    name="stats",
    commands_in=COMMANDS,
    help="Count sessions, tools, commands and tokens.",
    callback=_overview,
    invoke_without_command=True,
)
for _option in (json_option, host_option, project_option, since_option, source_option):
    _option(command)
