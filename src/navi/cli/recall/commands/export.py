"""`recall export`: write a session as a document, or all sessions into one file."""

from __future__ import annotations

from pathlib import Path

import click

from navi.base.errors import UsageError
from navi.cli import formats, output
from navi.cli.raw_option import raw_option
from navi.cli.recall.options import SessionName, clock


@click.command(
    "export",
    help="Export a session as Markdown or HTML. With --all, write every session, including those "
    "from other machines, to one file for `recall import`.",
    epilog="\b\nExamples:\n"
    "  recall export 712f --format html -o session.html\n"
    "  recall export --all sessions.gz --mask",
)
@click.argument("id", type=SessionName(), metavar="[ID]", required=False)
@click.option(
    "--all",
    "archive",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write all sessions to FILE.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(["md", "html"]),
    default="md",
    show_default=True,
    help="Output format.",
)
@click.option("-o", "--output", "path", type=click.Path(path_type=Path), help="Write to this file.")
@click.option(
    "--tools/--no-tools", default=True, help="Include the tool calls.  [default: --tools]"
)
@click.option("--thinking", is_flag=True, help="Include the agent's thinking.")
@click.option("--mask", "is_masked", is_flag=True, help="With --all: mask secrets.")
@raw_option
def command(
    id: str | None,
    archive: Path | None,
    format_name: str,
    path: Path | None,
    tools: bool,
    thinking: bool,
    is_masked: bool,
) -> None:
    if (id is None) == (archive is None):
        raise UsageError("give an id or --all FILE", hint="`recall list` shows the ids")
    if archive is not None:
        _export_all(archive, is_masked)
        return
    assert id is not None
    _export(id, format_name, path, tools, thinking)


def _export_all(path: Path, is_masked: bool) -> None:
    from navi.cli.recall.commands.sync import index_new_messages, note_problems
    from navi.memory.hosts import archive
    from navi.memory.hosts.stock import stock
    from navi.memory.hosts.sync_request import SyncRequest
    from navi.memory.index_paths import index_paths

    paths = index_paths()
    index_new_messages(paths)
    try:
        own = stock(paths, clock().now())
        count = archive.export(own, path, SyncRequest(is_masked=is_masked))
    except OSError as error:
        raise click.ClickException(f"can't write {path}: {error.strerror}") from error
    note_problems(own)
    output.say(f"exported {formats.count(count, 'session')} to {path}")


def _export(id: str, format_name: str, path: Path | None, tools: bool, thinking: bool) -> None:
    from navi.cli.recall.documents import html, markdown
    from navi.memory import database
    from navi.memory.index_paths import index_paths
    from navi.memory.read.session_lookup import resolve
    from navi.memory.read.session_transcript import transcript

    with database.reading(index_paths()) as connection:
        conversation = transcript(connection, resolve(connection, id))
    make_document = html if format_name == "html" else markdown
    document = make_document(conversation, tools=tools, thinking=thinking)
    if path is None:
        output.say(document.rstrip("\n"))
        return
    try:
        path.write_text(output.cleaned(document), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"can't write {path}: {error.strerror}") from error
    output.note(f"wrote {path}")
