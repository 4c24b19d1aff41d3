"""`navi upgrade`: print or run the command that upgrades Navi."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click

from navi import __version__
from navi.base.errors import NaviError
from navi.cli import output
from navi.cli.navi.installation import source_folder, upgrade_command
from navi.cli.navi.service.readiness import answering_server
from navi.cli.navi.service.this_machine import installed_service


@click.command("upgrade")
@click.option("-y", "--yes", is_flag=True, help="Also run the command.")
def command(yes: bool) -> None:
    """Print the command that upgrades Navi; it depends on how Navi was installed.

    A running server keeps using the old version until it is restarted.
    """
    command_line = upgrade_command(Path(sys.prefix), source_folder())
    output.note(f"this is Navi {__version__}; to upgrade:")
    output.say(command_line)
    if yes and subprocess.run(["/bin/sh", "-c", command_line], check=False).returncode != 0:
        raise NaviError("the upgrade failed", hint="see the messages above")
    if not yes:
        output.note("`navi upgrade --yes` runs it")
    output.note(_next_step())


def _next_step() -> str:
    if _service_is_running():
        return "then: `navi service restart`; turns of Claude Code and Codex continue"
    if answering_server() is not None:
        return "then stop the running server with Ctrl-C where it runs, and start it again"
    return "then: `navi serve`"


def _service_is_running() -> bool:
    manager = installed_service()
    try:
        return manager is not None and manager.state().is_running
    except NaviError:
        return False
