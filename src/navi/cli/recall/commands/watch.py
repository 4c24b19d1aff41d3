"""`recall watch`: keep the index up to date while agents work."""

from __future__ import annotations

import json
import sys
from _thread import interrupt_main
from threading import Thread
from typing import TYPE_CHECKING, Any

import click

from navi.base.errors import NaviError
from navi.base.timestamps import instant
from navi.cli import formats, output
from navi.cli.recall.options import clock

if TYPE_CHECKING:
    from navi.memory.ingest.report import Progress, RefreshResult
    from navi.memory.ingest.watch import Follower


@click.command("watch")
@click.option("-v", "--verbose", is_flag=True, help="Print the result for every file.")
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON after each update.")
def command(verbose: bool, as_json: bool) -> None:
    """Keep the index up to date while agents work, until interrupted.

    `navi serve` does the same while it runs. With --json, each line on standard input requests an
    update, and the end of input stops the command.
    """
    from navi.cli.recall.embedding_process import EmbeddingProcess
    from navi.memory.index_paths import index_paths
    from navi.memory.index_settings import searchable_fields
    from navi.memory.ingest.refresh import Refresh
    from navi.memory.ingest.watch import Follower
    from navi.vendors.registry import sources

    def report_file(progress: Progress) -> None:
        if verbose:
            output.note(f"{progress.path}: {progress.outcome}")

    refresh = Refresh(
        index_paths(), sources(), searchable_fields(), clock(), on_progress=report_file
    )
    embedding = EmbeddingProcess(refresh.paths)

    def on_pass(result: RefreshResult) -> None:
        (_print_pass if as_json else _describe_pass)(result)
        embedding.request()

    follower = Follower(refresh, on_pass, _print_problem if as_json else _describe_problem)
    if as_json:
        Thread(target=_read_requests, args=(follower,), daemon=True).start()
    else:
        output.note("watching; press Ctrl-C to stop")
    try:
        follower.run()
    finally:
        embedding.end()


def _read_requests(follower: Follower) -> None:
    for _ in sys.stdin:
        follower.request_pass()
    follower.end()
    interrupt_main()  # even during a long update, which the next one continues


def _print_pass(result: RefreshResult) -> None:
    moment = instant(clock().now())
    _print({"refreshed_at": moment, "indexed": result.indexed, "failed": result.failed})


def _print_problem(error: NaviError) -> None:
    _print({"problem": {"message": error.message, "hint": error.hint}})


def _print(value: dict[str, Any]) -> None:
    output.say(json.dumps(value))


def _describe_pass(result: RefreshResult) -> None:
    for warning in result.warnings:
        output.note(f"warning: {warning}")
    if result.indexed:
        output.note(
            f"indexed {formats.count(result.indexed, 'file')}, "
            f"{formats.count(result.messages, 'message')}"
        )


def _describe_problem(error: NaviError) -> None:
    output.note(f"warning: {error.message}")
