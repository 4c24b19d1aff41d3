"""`recall index`: index new messages in agents' files."""

from __future__ import annotations

import os
import signal
from dataclasses import asdict
from threading import Event
from typing import TYPE_CHECKING

import click

from navi.cli import formats, output
from navi.cli.recall.options import clock, json_option, source_option

if TYPE_CHECKING:
    from navi.memory.ingest.report import RefreshResult
    from navi.memory.semantic.vectors.backfill import BackfillResult

PATIENCE_SECONDS = 2.0
"""How long to wait for a server that is indexing; enough unless it has a lot to read."""


@click.command("index", help="Index new messages in your agents' files.")
@click.option("--full", is_flag=True, help="Index every file again.")
@source_option
@click.option("--recreate", is_flag=True, help="Back up the old index and start over.")
@click.option("-v", "--verbose", is_flag=True, help="Print the result for every file.")
@click.option(
    "--embed",
    is_flag=True,
    help="Also make the vectors for search by meaning, newest sessions first. Ctrl-C keeps those "
    "already made.",
)
@json_option
def command(
    full: bool, source: str | None, recreate: bool, verbose: bool, embed: bool, as_json: bool
) -> None:
    result, names = _index(full, source, recreate, verbose)
    if not as_json:
        _describe(result, names)
    made = _embed() if embed else None
    if as_json:
        vectors = {} if made is None else {"vectors": asdict(made)}
        output.say_json({**result.as_json(), **vectors})
    elif made is not None:
        reused = f", {made.reused:,} reused" if made.reused else ""
        output.say(
            f"made {formats.count(made.passages, 'vector')}{reused} for "
            f"{formats.count(made.sessions, 'session')} in {made.seconds:.1f} s"
        )
    if made is not None and not made.is_complete:
        output.note("interrupted; the next `recall index --embed` continues there")
        raise KeyboardInterrupt


def _index(
    full: bool, source: str | None, recreate: bool, verbose: bool
) -> tuple[RefreshResult, list[str]]:
    """Run a pass. Returns its result and the names of its sources."""
    from navi.cli.recall.progress import Bar, Log
    from navi.memory.index_paths import index_paths
    from navi.memory.index_settings import searchable_fields
    from navi.memory.ingest.unchanged import confirm, scan
    from navi.memory.keep.keeping import is_behind
    from navi.vendors.registry import sources

    selection = sources()
    if source is not None:
        selection = {source: selection[source]}
    paths, fields = index_paths(), searchable_fields()
    files_scan = None if full or recreate else scan(paths, selection.values(), fields)
    if (
        files_scan is not None
        and files_scan.nothing_changed
        and not is_behind(paths, selection, files_scan.indexed_files)
    ):
        confirm(paths)
        result = files_scan.plan.as_result()
    else:
        # Imported late: importing DuckDB and tantivy takes longer than checking the files.
        from navi.memory.ingest.refresh import Refresh

        progress = Log() if verbose else Bar()
        refresh = Refresh(
            paths,
            selection,
            fields,
            clock(),
            on_progress=progress.show,
            is_full=full,
            patience_seconds=PATIENCE_SECONDS,
        )
        if not full and not recreate and (reason := refresh.rebuild_reason()) is not None:
            output.note(f"{reason}: recall rebuilds the full-text index once")
        try:
            result = refresh.run(recreate=recreate, scan=files_scan)
        finally:
            progress.end()
    return result, list(selection)


def _describe(result: RefreshResult, names: list[str]) -> None:
    for warning in result.warnings:
        output.note(f"warning: {warning}")
    output.say(
        f"indexed {result.indexed}, skipped {result.skipped}, failed {result.failed} "
        f"of {formats.count(result.total, 'file')}: {formats.count(result.messages, 'message')}, "
        f"{formats.count(result.tool_calls, 'tool call')}, "
        f"{formats.size(result.bytes)} in {result.seconds:.1f} s"
    )
    if result.total == 0:
        output.note(f"found no session files for {', '.join(map(formats.source, names))}")


def _embed() -> BackfillResult:
    """Make the missing vectors. Ctrl-C stops after the current passages."""
    from navi.cli.recall.progress import EmbeddingBar
    from navi.memory.index_paths import index_paths
    from navi.memory.semantic.embedder import load_embedder
    from navi.memory.semantic.semantic_settings import semantic_settings

    embedder = load_embedder(index_paths(), semantic_settings(), threads=os.cpu_count() or 1)
    from navi.memory.semantic.vectors import vector_locks
    from navi.memory.semantic.vectors.backfill import Backfill

    is_interrupted = Event()
    previous = signal.signal(signal.SIGINT, lambda *_: is_interrupted.set())
    bar = EmbeddingBar()
    backfill = Backfill(
        index_paths(),
        embedder,
        clock().now,
        bar.show,
        should_stop=is_interrupted.is_set,
    )
    try:
        with vector_locks.foreground(index_paths().vectors, clock().now(), "recall index --embed"):
            return backfill.run()
    finally:
        bar.end()
        signal.signal(signal.SIGINT, previous)
