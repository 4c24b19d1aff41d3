"""`recall export`: write a session as a document."""

from __future__ import annotations

from pathlib import Path

import click

from navi.cli import output
from navi.cli.raw_option import raw_option
from navi.cli.recall.options import session_argument


@click.command("export", help="Export a session as Markdown or HTML.")
@session_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "html"]),
    default="md",
    show_default=True,
    help="Output format.",
)
@click.option("-o", "--output", "path", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("--tools/--no-tools", default=True, help="Include the tool calls.  [default: yes]")
@click.option("--thinking", is_flag=True, help="Include the agent's thinking.")
@raw_option
def command(id: str, form: str, path: Path | None, tools: bool, thinking: bool) -> None:
    from navi.cli.recall.documents import html, markdown
    from navi.memory import database
    from navi.memory.index_paths import places
    from navi.memory.read.session_lookup import resolve
    from navi.memory.read.session_transcript import transcript

    with database.reading(places()) as connection:
        session = transcript(connection, resolve(connection, id))
    make = html if form == "html" else markdown
    document = make(session, tools=tools, thinking=thinking)
    if path is None:
        output.say(document.rstrip("\n"))
        return
    try:
        path.write_text(output.cleaned(document), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"can't write {path}: {error.strerror}") from error
    output.note(f"wrote {path}")
