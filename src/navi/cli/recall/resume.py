"""`recall resume`: take a session up again with its own agent."""

from __future__ import annotations

import os
import shutil

import click

from navi.cli import formats, output
from navi.cli.recall.options import json_option
from navi.domain.errors import NaviError, NotFound


@click.command("resume", help="Print the command that takes a session up again, or run it.")
@click.argument("id")
@click.option("--run", "runs", is_flag=True, help="Run it, in the session's folder.")
@json_option
def command(id: str, runs: bool, as_json: bool) -> None:
    from navi.index import database
    from navi.index.agents import resume_command
    from navi.index.listing import resolve, session
    from navi.index.places import places

    with database.reading(places()) as connection:
        found = session(connection, resolve(connection, id))
    words = resume_command(found)
    if words is None:
        raise NotFound(
            f"{found['source']} has no command that resumes session {found['id']}",
            hint=f"recall show {found['id']}",
        )
    if found["is_archived"]:
        output.note("its file is gone: the agent may not know this session any more")
    if as_json:
        output.say_json({"session_id": found["id"], "command": words, "cwd": found["cwd"]})
    elif runs:
        _run(words, found["cwd"])
    else:
        output.say(formats.shell_line(words, found["cwd"]))


def _run(words: list[str], cwd: str | None) -> None:
    if cwd is not None:
        try:
            os.chdir(cwd)
        except OSError as error:
            raise NaviError(
                f"can't go to the session's folder {cwd}: {(error.strerror or '').lower()}",
                hint="make the folder again, or run the command elsewhere",
            ) from error
    if shutil.which(words[0]) is None:
        raise NaviError(f"{words[0]} is not installed here", hint=f"put {words[0]} on your PATH")
    os.execvp(words[0], words)
