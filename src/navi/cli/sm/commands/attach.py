"""`sm attach`: attach to a session's terminal."""

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
    """Attach to the terminal of a session that runs in tmux.

    Press Ctrl-B D to detach; the agent keeps running.
    """
    record = target.find(Client(find_server()), session)
    if record["driver"] != "tmux":
        raise InvalidInput(
            f"{lines.named(record)} has no terminal: its driver is {record['driver']}",
            hint="`sm output` shows what it said; only sessions with the tmux driver have one",
        )
    program = shutil.which("tmux")
    if program is None:
        raise NotFound("tmux is not installed here", hint="run this on the server's machine")
    order = ["tmux", "-L", paths.tmux_socket(), "-f", os.devnull]
    pane = f"={paths.pane_name(record['id'])}"
    import subprocess

    if subprocess.run([*order, "has-session", "-t", pane], capture_output=True).returncode:
        raise NotFound(
            f"{lines.named(record)} has no terminal yet",
            hint="its first input starts one, on the server's machine",
        )
    os.execv(program, [*order, "attach-session", "-t", pane])
