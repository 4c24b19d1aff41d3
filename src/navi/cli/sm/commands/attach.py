"""`sm attach`: into the terminal of a session."""

from __future__ import annotations

import os
import shutil

import click

from navi.base import paths
from navi.base.errors import InvalidInput, NotFound
from navi.cli.sm import lines, target
from navi.client import Client, find_server


@click.command("attach")
@click.argument("session")
def command(session: str) -> None:
    """Look into the terminal of a session that runs in tmux, and type there.

    Ctrl-B D leaves it again; the agent goes on.
    """
    found = target.find(Client(find_server()), session)
    if found["driver"] != "tmux":
        raise InvalidInput(
            f"{lines.named(found)} has no terminal: its driver is {found['driver']}",
            hint="`sm output` shows what it said; sessions with the driver tmux have one",
        )
    program = shutil.which("tmux")
    if program is None:
        raise NotFound("tmux is not installed here", hint="run this on the server's machine")
    order = ["tmux", "-L", paths.tmux_socket(), "-f", os.devnull]
    pane = f"={paths.pane_name(found['id'])}"
    import subprocess

    if subprocess.run([*order, "has-session", "-t", pane], capture_output=True).returncode:
        raise NotFound(
            f"{lines.named(found)} has no terminal yet",
            hint="its first input starts one; it is on the machine of the server",
        )
    os.execv(program, [*order, "attach-session", "-t", pane])
