"""`recall watch`: keep the index up to date."""

from __future__ import annotations

import click

from navi.cli import formats, output
from navi.cli.recall.options import clock


@click.command("watch", help="Keep the index up to date while agents work, until interrupted.")
@click.option("-v", "--verbose", is_flag=True, help="Print what happens to every file.")
def command(verbose: bool) -> None:
    from navi.index.agents import agents
    from navi.index.following import follow
    from navi.index.outcome import Progress, Refreshed
    from navi.index.places import places
    from navi.index.refresh import Refresh
    from navi.index.settings import searchable_fields

    def tell(progress: Progress) -> None:
        if verbose:
            output.note(f"{progress.path}: {progress.outcome}")

    def report(result: Refreshed) -> None:
        for warning in result.warnings:
            output.note(f"warning: {warning}")
        if result.indexed:
            output.note(
                f"indexed {formats.count(result.indexed, 'file')}, "
                f"{formats.count(result.messages, 'message')}"
            )

    refresh = Refresh(places(), agents(), searchable_fields(), clock(), tell=tell)
    output.note("watching; press Ctrl-C to stop")
    follow(refresh, report)
