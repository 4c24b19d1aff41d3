"""`recall import`: add the sessions of a file that `recall export --all` wrote."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from navi.cli import formats, output
from navi.cli.recall.options import clock, json_option


@click.command(
    "import",
    help="Add the sessions of a file that `recall export --all` wrote, usually on another machine. "
    "This machine's own sessions are never replaced; sessions received earlier are replaced only "
    "by newer versions.",
)
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@json_option
def command(file: Path, as_json: bool) -> None:
    from navi.cli.recall.commands.sync import index_new_messages
    from navi.memory.hosts import archive
    from navi.memory.hosts.stock import stock
    from navi.memory.index_paths import index_paths

    paths = index_paths()
    index_new_messages(paths)
    try:
        result, count = archive.import_from(stock(paths, clock().now()), file)
    except OSError as error:
        raise click.ClickException(f"can't read {file}: {error.strerror}") from error
    if result.received:
        index_new_messages(paths)
    if as_json:
        output.say_json(
            {"sessions": count, "imported": result.received, "set_aside": result.refused}
        )
    else:
        for problem in result.refused:
            output.note(f"warning: refused: {problem}")
        output.say(f"imported {result.received} of {formats.count(count, 'session')}")
    if result.refused:
        sys.exit(1)
