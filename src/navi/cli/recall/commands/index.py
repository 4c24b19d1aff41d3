"""`recall index`: index what is new in agents' files."""

from __future__ import annotations

import click

from navi.cli import formats, output
from navi.cli.recall.options import clock, json_option, source_option

PATIENCE_SECONDS = 2.0
"""Long enough for a running server to finish its update, unless it has a lot to read."""


@click.command("index", help="Index what is new in your agents' files.")
@click.option("--full", is_flag=True, help="Index every file again.")
@source_option
@click.option("--recreate", is_flag=True, help="Back up the old index and start over.")
@click.option("-v", "--verbose", is_flag=True, help="Print the result for every file.")
@json_option
def command(full: bool, source: str | None, recreate: bool, verbose: bool, as_json: bool) -> None:
    from navi.cli.recall.progress import Bar, Log
    from navi.memory.index_paths import places
    from navi.memory.index_settings import searchable_fields
    from navi.memory.ingest.unchanged import confirm, scan
    from navi.memory.resume import agents

    sources = agents()
    if source is not None:
        sources = {source: sources[source]}
    where, fields = places(), searchable_fields()
    disk = None if full or recreate else scan(where, sources.values(), fields)
    if disk is not None and disk.nothing_changed:
        confirm(where)
        result = disk.plan.as_result()
    else:
        # Imported late: the engines take longer to import than checking the files takes.
        from navi.memory.ingest.refresh import Refresh

        progress = Log() if verbose else Bar()
        refresh = Refresh(
            where,
            sources,
            fields,
            clock(),
            on_progress=progress.show,
            is_full=full,
            patience_seconds=PATIENCE_SECONDS,
        )
        try:
            result = refresh.run(recreate=recreate, scan=disk)
        finally:
            progress.end()
    if as_json:
        output.say_json(result.as_json())
        return
    for warning in result.warnings:
        output.note(f"warning: {warning}")
    output.say(
        f"indexed {result.indexed}, skipped {result.skipped}, failed {result.failed} "
        f"of {formats.count(result.total, 'file')}: {formats.count(result.messages, 'message')}, "
        f"{formats.count(result.tool_calls, 'tool call')}, "
        f"{formats.size(result.bytes)} in {result.seconds:.1f} s"
    )
    if result.total == 0:
        names = ", ".join(formats.source(name) for name in sources)
        output.note(f"found no session files for {names}")
