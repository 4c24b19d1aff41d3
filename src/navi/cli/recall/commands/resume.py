"""`recall resume`: resume a session in its own agent."""

from __future__ import annotations

import os
import shutil
from typing import Any

import click

from navi.base.errors import NaviError, NotFound, UsageError
from navi.base.file_modes import person_umask
from navi.cli import formats, output
from navi.cli.recall.options import json_option, session_argument


@click.command(
    "resume", help="Print the command that resumes a session in its own agent, or run it."
)
@session_argument
@click.option("--run", "runs", is_flag=True, help="Run it, in the session's folder.")
@json_option
def command(id: str, runs: bool, as_json: bool) -> None:
    from navi.memory import database
    from navi.memory.index_paths import places
    from navi.memory.read.session_lookup import resolve, session
    from navi.memory.resume import resume_command, shell_line

    with database.reading(places()) as connection:
        past = session(connection, resolve(connection, id))
    if past["source"] == "navi":
        _resume_in_navi(past, runs, as_json)
        return
    words = resume_command(past)
    if words is None:
        raise NotFound(
            f"{formats.source(past['source'])} can't resume session {past['id']}",
            hint=f"`recall show {past['id']}` shows what was said",
        )
    if past["is_archived"]:
        output.note("its file is gone; the agent may no longer know this session")
    if as_json:
        output.say_json({"session_id": past["id"], "command": words, "cwd": past["cwd"]})
    elif runs:
        _run(words, past["cwd"])
    else:
        output.say(shell_line(words, past["cwd"]))


def _resume_in_navi(past: dict[str, Any], runs: bool, as_json: bool) -> None:
    """A Navi session resumes when it receives a message; there is nothing to start."""
    id = past["source_session_id"]
    if runs:
        raise UsageError(
            "a Navi session resumes when you send it a message", hint=f'sm send {id} "…"'
        )
    if as_json:
        words = ["sm", "send", id, "…"]
        output.say_json({"session_id": past["id"], "command": words, "cwd": past["cwd"]})
        return
    output.say(f'sm send {id} "…"')
    if page := _page(id):
        output.note(f"or on the page: {page}")


def _page(id: str) -> str | None:
    """The session's page, if a server is configured on this machine."""
    from navi.client.server_address import find_server

    try:
        server = find_server()
    except NaviError:
        return None
    return None if server.token is None else f"{server.address}/#/sessions/{id}"


def _run(words: list[str], cwd: str | None) -> None:
    if cwd is not None:
        try:
            os.chdir(cwd)
        except OSError as error:
            raise NaviError(
                f"can't enter the session's folder {cwd}: {(error.strerror or '').lower()}",
                hint="recreate the folder, or run the command elsewhere",
            ) from error
    if shutil.which(words[0]) is None:
        raise NaviError(f"{words[0]} is not installed here", hint=f"put {words[0]} on your PATH")
    os.umask(person_umask())
    os.execvp(words[0], words)
