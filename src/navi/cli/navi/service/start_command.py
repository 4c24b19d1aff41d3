"""The command that the service runs."""

from __future__ import annotations

import sys
from pathlib import Path

from navi.base.errors import Conflict
from navi.base.python_command import python_module
from navi.cli.navi.installation import is_temporary


def start_command(prefix: Path = Path(sys.prefix)) -> list[str]:
    """This installation's `navi serve`, by its absolute path."""
    if is_temporary(prefix):
        raise Conflict(
            "this Navi runs from a temporary environment, so a service would soon stop working",
            hint="install it first, with `uv tool install heynavi` or `pipx install heynavi`",
        )
    script = prefix / "bin" / "navi"
    program = [str(script)] if script.exists() else python_module("navi.cli.navi.main")
    return [*program, "serve", "--no-open"]
