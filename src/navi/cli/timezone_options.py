"""The option --tz, also called --timezone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from datetime import tzinfo

Command = TypeVar("Command", bound=Callable[..., Any])


def timezone_option(
    default: str = "from the settings, or this machine's",
) -> Callable[[Command], Command]:
    """Add --tz, which the command gets as `zone`: None if the option is not used."""
    shows_default = f"  [default: {default}]" if default else ""
    return click.option(
        "--tz",
        "--timezone",
        "zone",
        metavar="ZONE",
        multiple=True,
        callback=_read,
        help=f"Time zone, like Europe/Paris or +02:00.{shows_default}",
    )


def _read(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tzinfo | None:
    if not names:
        return None
    from navi.base.errors import UsageError
    from navi.base.timezone import parse_timezone

    if len(names) > 1:
        raise UsageError(
            f"more than one time zone: {' and '.join(names)}",
            hint="use --tz or --timezone, once",
        )
    return parse_timezone(names[0])
