"""What `recall index` does and prints."""

from __future__ import annotations

from navi.cli import formats, output
from navi.cli.recall.progress import Bar, Log
from navi.index.agents import agents
from navi.index.places import places
from navi.index.settings import searchable_fields
from navi.index.shortcut import look
from navi.runtime.system_clock import SystemClock


def run(full: bool, source: str | None, recreate: bool, verbose: bool, as_json: bool) -> None:
    sources = agents()
    if source is not None:
        sources = {source: sources[source]}
    where, fields = places(), searchable_fields()
    seen = None if full or recreate else look(where, sources.values(), fields)
    if seen is not None and seen.nothing_changed:
        result = seen.as_result()
    else:
        # Only now: importing the engines takes longer than a look at the files.
        from navi.index.refresh import Refresh

        told = Log() if verbose else Bar()
        refresh = Refresh(where, sources, fields, SystemClock(), tell=told.tell, is_full=full)
        try:
            result = refresh.run(recreate=recreate, seen=seen)
        finally:
            told.end()
    if as_json:
        output.say_json(result.as_json())
        return
    for warning in result.warnings:
        output.note(f"warning: {warning}")
    output.say(
        f"indexed {result.indexed}, skipped {result.skipped}, failed {result.failed} "
        f"of {result.total} files: {result.messages:,} messages, {result.tool_calls:,} tool calls, "
        f"{formats.size(result.bytes)} in {result.seconds:.1f} s"
    )
    if result.total == 0:
        names = ", ".join(formats.source(name) for name in sources)
        output.note(f"no session files found of: {names}")
