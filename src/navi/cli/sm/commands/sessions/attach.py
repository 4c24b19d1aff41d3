"""`sm attach`: attach to a session's terminal."""

from __future__ import annotations

import os
import shutil

import click

from navi.base import paths
from navi.base.errors import InvalidInput, NotFound
from navi.cli.sm import lines, reader, target
from navi.cli.sm.session_completion import complete_session
from navi.client import Client, find_server


@click.command("attach")
@click.argument("session", shell_complete=complete_session)
def command(session: str) -> None:
    """Attach to the terminal of a session that runs in tmux.

    Press Ctrl-B D to detach; the agent keeps running. Marks the session as read, unless an agent
    runs this.
    """
    client = Client(find_server())
    record = target.find(client, session)
    if record["driver"] != "tmux":
        raise InvalidInput(
            f"{lines.title_and_id(record)} has no terminal: its driver is {record['driver']}",
            hint="only sessions with the tmux driver have one; `sm output` shows what it said",
        )
    executable = shutil.which("tmux")
    if executable is None:
        raise NotFound("tmux is not installed here", hint="run this on the server's machine")
    tmux = ["tmux", "-L", paths.tmux_socket(), "-f", os.devnull]
    pane = f"={paths.pane_name(record['id'])}"
    import subprocess

    if subprocess.run([*tmux, "has-session", "-t", pane], capture_output=True).returncode:
        raise NotFound(
            f"{lines.title_and_id(record)} has no terminal yet",
            hint="its first input starts one, on the server's machine",
        )
    reader.mark_read(client, record)
    os.execv(executable, [*tmux, "attach-session", "-t", pane])
