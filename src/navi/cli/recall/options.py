"""Options that several commands share, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from navi.domain.clock import Clock

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def clock() -> Clock:
    from navi.runtime.system_clock import SystemClock

    return SystemClock()


class Since(click.ParamType[datetime]):
    """`7d`, `24h`, `30m`, `1w`, or a date with or without a time, in UTC unless it says else."""

    name = "when"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        if isinstance(value, datetime):
            return value
        if found := re.fullmatch(r"(\d{1,6})([mhdw])", value.strip().lower()):
            return clock().now() - timedelta(**{UNITS[found[2]]: int(found[1])})
        try:
            moment = datetime.fromisoformat(value.strip())
            return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time; say 7d, 24h, 30m, 1w or 2024-01-15T10:30:00")


class SourceName(click.ParamType[str]):
    """`claude-code` on the command line is `claude_code` in the tables."""

    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from navi.index.agents import agents

        name: str = value.strip().lower().replace("-", "_")
        known = agents()
        if name not in known:
            shown = ", ".join(shown_source(each) for each in known)
            self.fail(f"there is no source {value!r}; choose from: {shown}")
        return name


def shown_source(name: str) -> str:
    return name.replace("_", "-")


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
