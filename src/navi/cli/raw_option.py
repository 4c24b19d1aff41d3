"""`--raw`, for commands that print what agents and tools wrote."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from navi.cli import output

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _keep_control_characters(
    context: click.Context, parameter: click.Parameter, is_raw: bool
) -> None:
    context.meta[output.RAW] = is_raw


raw_option: Decorator = click.option(
    "--raw",
    is_flag=True,
    expose_value=False,
    callback=_keep_control_characters,
    help="Keep control characters. Your terminal will interpret them.",
)
