"""`recall stats tokens`: tokens and their cost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

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

PERIODS = ("day", "week", "month")
CHOICES = ("project", *PERIODS, "model")
DEFAULT_GROUPS = ("project", "month")
"""Gives few enough rows to read."""
JSON_DEFAULT_GROUPS = ("project", "day", "model")
"""The finest grouping, for programs; the same as `GET /stats/tokens`."""
WHOLE_NUMBER_WIDTH = 120
"""How wide a terminal must be to show `12,345,678` rather than `12.3M`."""


class Groups(click.ParamType[tuple[str, ...]]):
    """Some of the choices, separated by commas."""

    name = "groups"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        groups = tuple(each.strip() for each in value.split(",") if each.strip())
        if not set(groups) <= set(CHOICES):
            self.fail(f"choose from: {', '.join(CHOICES)}")
        if len(set(groups) & set(PERIODS)) > 1:
            self.fail("choose only one of day, week and month")
        return groups


@click.command("tokens", help="Show tokens and their cost at public list prices.")
@click.option(
    "--by",
    type=Groups(),
    help="Group by any of project, model and one period (day, week or month), separated by commas."
    f"  [default: {','.join(DEFAULT_GROUPS)}; with --json {','.join(JSON_DEFAULT_GROUPS)}]",
)
@source_option
@since_option
@project_option
@host_option
@json_option
def command(
    by: tuple[str, ...] | None,
    source: str | None,
    since: datetime | None,
    project: str | None,
    host: str | None,
    as_json: bool,
) -> None:
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.prices import AS_OF
    from navi.memory.read import statistics

    if by is None:
        by = JSON_DEFAULT_GROUPS if as_json else DEFAULT_GROUPS
    scope = statistics.Scope(source, project, since, host=host_for_statistics(host))
    with database.reading(index_paths()) as connection:
        rows = statistics.tokens(connection, scope, by)
    if as_json:
        output.say_json(rows)
        return
    if not rows:
        explain_no_stats("tokens", source, project, since, host)
        return
    _show(rows, by)
    total = sum(row["cost_usd"] or 0 for row in rows)
    output.note(f"total ${total:,.2f}, at list prices as of {AS_OF}")
    unpriced = sorted({model for row in rows for model in row["unpriced_models"]})
    if unpriced:
        output.note(_unpriced_note(unpriced))


def _show(rows: list[dict[str, Any]], by: tuple[str, ...]) -> None:
    from navi.memory.read.statistics import TOKENS

    groups = [name for name in ("project", "period", "model") if any(row[name] for row in rows)]
    period = next((each for each in by if each in PERIODS), "")
    columns = {
        "project": Column("PROJECT", needed_width=16, keeps_end=True, style="cyan"),
        "period": Column(f"{period.upper()} (UTC)"),
        "model": Column("MODEL", needed_width=16),
    }
    width = output.width()
    number = formats.compact if width is not None and width < WHOLE_NUMBER_WIDTH else "{:,}".format
    output.table(
        [
            *(columns[name] for name in groups),
            *(
                Column(head, is_number=True)
                for head in ("INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST")
            ),
        ],
        [
            [
                *(formats.short_path(row[name] or "-") for name in groups),
                *(number(row[name]) for name in TOKENS),
                _cost(row),
            ]
            for row in rows
        ],
    )


def _cost(row: dict[str, Any]) -> str:
    if row["cost_usd"] is None:
        return "unknown"
    return f"${row['cost_usd']:,.2f}" + ("+" if row["unpriced_models"] else "")


def _unpriced_note(models: list[str]) -> str:
    """`unknown` stands for answers that don't name their model."""
    names = [model for model in models if model != "unknown"]
    verb, whose = ("has", "its") if len(models) == 1 else ("have", "their")
    number = formats.count(len(models), "model")
    text = f"{number} {verb} no known price; {whose} cost is left out"
    return f"{text}: {', '.join(names)}" if names else text
