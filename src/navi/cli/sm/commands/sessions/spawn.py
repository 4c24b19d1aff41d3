"""`sm spawn`: start a session and give it a task."""

from __future__ import annotations

import click

from navi.cli import output

HELP = """Start a session and give it PROMPT. Use `-` to read PROMPT from standard input.

\b
sm spawn "Review the last commit." --name reviewer
sm spawn "Run the tests." --driver claude_code --cwd ~/project --wait

An agent that runs this becomes the parent, and may clear and kill the new session. Prints the new
session's title and id.
"""

EXAMPLE = 'sm spawn "Run the tests."'


@click.command("spawn", help=HELP)
@click.argument("words", nargs=-1, metavar="[PROMPT]")
@click.option(
    "--name",
    metavar="TEXT",
    help="Name of the session; it should be unique.  [default: the prompt's first line]",
)
@click.option(
    "--driver",
    metavar="NAME",
    help="Driver: builtin, claude_code, codex, tmux or scripted.  [default: one that is set up]",
)
@click.option("--model", metavar="NAME", help="Model to use instead of the default.")
@click.option(
    "--program",
    metavar="COMMAND",
    help="With --driver tmux: the agent or command to run in the terminal.  [default: claude_code]",
)
@click.option("--cwd", metavar="FOLDER", help="Working folder.  [default: the current folder]")
@click.option(
    "--on-permission",
    type=click.Choice(["ask", "deny", "allow-listed"]),
    metavar="POLICY",
    help="When the agent needs permission: `ask` you, `deny`, or `allow-listed`, which allows "
    "harmless calls and those listed in the settings, and denies the rest.  [default: from the "
    "settings, usually ask]",
)
@click.option(
    "--question-deadline",
    metavar="DURATION",
    help="How long its questions wait for you: 30m, 8h; 0 is forever.  [default: from the "
    "settings]",
)
@click.option(
    "--budget",
    metavar="AMOUNT",
    help="Limit for the session and those it starts: 2usd, 500k tokens. Add /day for a daily "
    "limit.",
)
@click.option(
    "--wait",
    metavar="[DURATION]",
    is_flag=False,
    flag_value="1h",
    help="Wait up to this long (like 90s or 5m) for the answer, and print it. Without DURATION, up "
    "to an hour.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    words: tuple[str, ...],
    name: str | None,
    driver: str | None,
    model: str | None,
    program: str | None,
    cwd: str | None,
    on_permission: str | None,
    question_deadline: str | None,
    budget: str | None,
    wait: str | None,
    as_json: bool,
) -> None:
    import os

    from navi.base.errors import UsageError
    from navi.cli.sm import answer, lines, target
    from navi.cli.sm.words import budget_of, deadline_minutes_of, seconds_of, text_of
    from navi.client import Client, find_server

    prompt = text_of(words, "the prompt is blank", EXAMPLE) if words else None
    if wait is not None and prompt is None:
        raise UsageError("--wait needs a prompt", hint=f"{EXAMPLE} --wait 60")
    wait_seconds = None if wait is None else seconds_of(wait)
    client = Client(find_server())
    own = target.own_id_or_none()
    session = client.create_session(
        name=name,
        driver=driver,
        model=model,
        program=program,
        cwd=os.path.abspath(os.path.expanduser(cwd or ".")),
        parent_id=own,
        on_permission=on_permission,
        question_deadline_minutes=deadline_minutes_of(question_deadline),
        budget=None if budget is None else budget_of(budget),
    )
    if driver is None:
        output.note(f"started with {session['driver']}; --driver chooses another agent")
    admission = None
    if prompt is not None:
        admission = client.send(session["id"], prompt, sender_session_id=own)
        # Without a name, the prompt's first line has become the session's title.
        session = client.session(session["id"])
    if wait_seconds is not None and admission is not None:
        output.note(lines.title_and_id(session))
        answer.wait_for(client, session, admission["input_id"], wait_seconds, as_json=as_json)
    elif as_json:
        output.say_json(session)
    else:
        output.say(lines.title_and_id(session))
    if name is not None:
        target.warn_of_namesakes(client, session)
