"""Options that several commands share, and how their values are read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from navi.cli import formats
from navi.cli.recall.since import read_since
from navi.domain.clock import Clock


def clock() -> Clock:
    from navi.runtime.system_clock import SystemClock

    return SystemClock()


class Since(click.ParamType[datetime]):
    """As `read_since` reads it."""

    name = "when"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        try:
            return read_since(value)
        except ValueError:
            self.fail(f"{value!r} is no time; say 7d, 24h, 30m, 1w or 2024-01-15T10:30:00")


class SourceName(click.ParamType[str]):
    """`claude-code` on the command line is `claude_code` in the tables."""

    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from navi.index.agents import agents

        name: str = value.strip().lower().replace("-", "_")
        known = agents()
        if name not in known:
            shown = ", ".join(formats.source(each) for each in known)
            self.fail(f"there is no source {value!r}; choose from: {shown}")
        return name


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

json_option: Decorator = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
source_option: Decorator = click.option(
    "--source", type=SourceName(), help="Only this agent's: claude-code, codex, navi."
)
since_option: Decorator = click.option(
    "--since", type=Since(), help="Not older: 7d, 24h, 30m, 1w or a date."
)
project_option: Decorator = click.option(
    "--project", metavar="PATH", help="Only of projects whose path contains this."
)
