"""`recall stats tokens`: tokens and what they cost."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from navi.cli import formats, output
from navi.cli.recall.options import json_option, project_option, since_option, source_option

CHOICES = ("project", "day", "week", "month", "model")


class Groups(click.ParamType[tuple[str, ...]]):
    """Some of the choices, with commas."""

    name = "groups"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        chosen = tuple(each.strip() for each in value.split(",") if each.strip())
        if not set(chosen) <= set(CHOICES):
            self.fail(f"choose from: {', '.join(CHOICES)}")
        if len(set(chosen) & {"day", "week", "month"}) > 1:
            self.fail("choose one of day, week and month")
        return chosen


@click.command("tokens", help="Tokens and what they cost, by public price lists.")
@click.option(
    "--by",
    type=Groups(),
    default="project,day,model",
    show_default=True,
    help="Grouped by any of: project, day, week, month, model.",
)
@source_option
@since_option
@project_option
@json_option
def command(
    by: tuple[str, ...],
    source: str | None,
    since: datetime | None,
    project: str | None,
    as_json: bool,
) -> None:
    from navi.index import database, stats
    from navi.index.places import places
    from navi.index.prices import AS_OF

    with database.reading(places()) as connection:
        found = stats.tokens(connection, stats.Scope(source, project, since), by)
    if as_json:
        output.say_json(found)
        return
    names = [name for name in ("project", "period", "model") if any(row[name] for row in found)]
    output.table(
        [*(name.upper() for name in names), "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST"],
        [
            [
                *(formats.home_short(row[name] or "-") for name in names),
                *(f"{row[name]:,}" for name in stats.TOKENS),
                _cost(row),
            ]
            for row in found
        ],
    )
    total = sum(row["cost_usd"] or 0 for row in found)
    unknown = sorted({model for row in found for model in row["unpriced_models"]})
    output.note(f"total ${total:,.2f} by the price lists of {AS_OF}")
    if unknown:
        output.note(f"price unknown, not counted: {', '.join(unknown)}")


def _cost(row: dict[str, Any]) -> str:
    if row["cost_usd"] is None:
        return "unknown"
    return f"${row['cost_usd']:,.2f}" + ("+?" if row["unpriced_models"] else "")
