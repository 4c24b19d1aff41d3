"""`sm spawn`: start a session and give it a task."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Start a session and give it PROMPT. `-` reads it from standard input.

\b
sm spawn "Review the last commit." --name reviewer
sm spawn --name worker --driver scripted --cwd ~/project

An agent that runs this becomes the parent, and may clear and kill the new session. Prints the new
session's title and id.
"""

EXAMPLE = 'sm spawn "Run the tests."'


@click.command("spawn", help=HELP)
@click.argument("words", nargs=-1, metavar="[PROMPT]")
@click.option(
    "--name",
    metavar="TEXT",
    help="Title; need not be unique.  [default: the prompt's first line]",
)
@click.option(
    "--driver", metavar="NAME", help="Driver: builtin, claude_code, codex, tmux or scripted."
)
@click.option("--model", metavar="NAME", help="Model to use instead of the default.")
@click.option(
    "--program",
    metavar="COMMAND",
    help="Agent or command to run in the pane, with --driver tmux.  [default: claude_code]",
)
@click.option("--cwd", metavar="FOLDER", help="Working folder.  [default: the current folder]")
@click.option(
    "--wait",
    metavar="SECONDS",
    help="Wait up to this long (60 or 5m) for the answer, and print it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    words: tuple[str, ...],
    name: str | None,
    driver: str | None,
    model: str | None,
    program: str | None,
    cwd: str | None,
    wait: str | None,
    as_json: bool,
) -> None:
    import os

    from navi.base.errors import UsageError
    from navi.cli.sm import answer, lines, target
    from navi.cli.sm.words import seconds_of, text_of
    from navi.client import Client, find_server

    prompt = text_of(words, "the prompt is blank", EXAMPLE) if words else None
    if wait is not None and prompt is None:
        raise UsageError("--wait needs a prompt", hint=f"{EXAMPLE} --wait 60")
    seconds = None if wait is None else seconds_of(wait)
    client = Client(find_server())
    own = target.own_id_or_none()
    session = client.create_session(
        name=name,
        driver=driver,
        model=model,
        program=program,
        cwd=os.path.abspath(os.path.expanduser(cwd or ".")),
        parent_id=own,
    )
    admission = None
    if prompt is not None:
        admission = client.send(session["id"], prompt, sender_session_id=own)
        # Without a name, the prompt's first line has become its title.
        session = client.session(session["id"])
    if seconds is not None and admission is not None:
        output.note(lines.title_and_id(session))
        answer.wait_for(client, session, admission["input_id"], seconds, as_json=as_json)
    elif as_json:
        output.say_json(session)
    else:
        output.say(lines.title_and_id(session))
