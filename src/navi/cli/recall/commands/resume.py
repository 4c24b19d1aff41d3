"""`recall resume`: resume a session in its own agent."""

from __future__ import annotations

from typing import Any

import click

from navi.base.errors import NaviError, NotFound, UsageError
from navi.cli import formats, output
from navi.cli.recall.agent_process import become, note_about_lost_file
from navi.cli.recall.options import json_option, session_argument


@click.command(
    "resume", help="Print the command that resumes a session in its own agent, or run it."
)
@session_argument
@click.option("--run", "runs", is_flag=True, help="Run the command, in the session's folder.")
@json_option
def command(id: str, runs: bool, as_json: bool) -> None:
    resume(id, runs=runs, as_json=as_json)


def resume(id: str, *, runs: bool, as_json: bool = False) -> None:
    """Print the command, or run it in place of this process."""
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_lookup import resolve, session
    from navi.memory.resume import resume_command, shell_line

    with database.reading(index_paths()) as connection:
        record = session(connection, resolve(connection, id))
    if record["host"] is not None:
        raise NotFound(
            f"session {record['id']} is on {record['host']}, and can be resumed only there",
            hint=f"on {record['host']}: recall resume {record['id']}",
        )
    if record["source"] == "navi":
        _resume_in_navi(record, runs, as_json)
        return
    agent_command = resume_command(record)
    if agent_command is None:
        raise NotFound(
            f"{formats.source(record['source'])} can't resume session {record['id']}",
            hint=f"`recall show {record['id']}` shows what was said",
        )
    if record["is_archived"]:
        output.note(note_about_lost_file(record["id"]))
    if as_json:
        output.say_json(
            {"session_id": record["id"], "command": agent_command, "cwd": record["cwd"]}
        )
    elif runs:
        become(agent_command, record["cwd"])
    else:
        output.say(shell_line(agent_command, record["cwd"]))


def _resume_in_navi(record: dict[str, Any], runs: bool, as_json: bool) -> None:
    """A Navi session resumes when it receives a message; there is nothing to start."""
    id = record["source_session_id"]
    if runs:
        raise UsageError(
            "a Navi session resumes when you send it a message", hint=f'sm send {id} "…"'
        )
    if as_json:
        send_command = ["sm", "send", id, "…"]
        output.say_json({"session_id": record["id"], "command": send_command, "cwd": record["cwd"]})
        return
    output.say(f'sm send {id} "…"')
    if page := _page_address(id):
        output.note(f"or on the page: {page}")


def _page_address(id: str) -> str | None:
    """Where the session is on the page; None if no server is configured on this machine."""
    from navi.client.server_address import find_server

    try:
        server = find_server()
    except NaviError:
        return None
    return None if server.token is None else f"{server.address}/#/sessions/{id}"
