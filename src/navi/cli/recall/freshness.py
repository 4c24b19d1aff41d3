"""Indexes new messages before commands such as `recall search` read the index.

If that would take too long, they read the index as it is, and a note says how old it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from navi.base.errors import NaviError
from navi.cli import formats, output
from navi.cli.recall.options import clock
from navi.cli.recall.progress import Bar
from navi.memory.index_paths import IndexPaths
from navi.memory.index_settings import searchable_fields
from navi.memory.ingest.freshness import Freshness, freshness
from navi.vendors.registry import sources

if TYPE_CHECKING:
    from navi.memory.ingest.refresh import Refresh

TIME_LIMIT_SECONDS = 1.0
FIRST_PASS_SECONDS = 60.0
"""How long to wait for another process, usually a server, that is making the first index."""


def bring_up_to_date(paths: IndexPaths) -> None:
    """Index new messages, or print why that failed: an old answer is better than none."""
    try:
        _bring_up_to_date(paths)
    except NaviError as error:
        output.note(f"note: can't index new messages: {error.message}")


def _bring_up_to_date(paths: IndexPaths) -> None:
    if not paths.database.exists() or not paths.texts.exists():
        output.note("indexing your agents' sessions for the first time")
        _index_everything(paths)
        return
    state = freshness(paths, sources(), searchable_fields(), clock().now())
    if state.is_up_to_date:
        return
    if state.is_quick_to_refresh:
        result = _refresh(paths, TIME_LIMIT_SECONDS).run(doing="recall", scan=state.scan)
        if result.unfinished:
            _say_how_old(state, result.unfinished)
    elif state.scan is not None:
        _say_how_old(state, len(state.scan.plan.changed))
    else:
        _refresh_unknown_state(paths, state)


def _refresh_unknown_state(paths: IndexPaths, state: Freshness) -> None:
    """Run a pass after one was killed, or after another version wrote to the index."""
    refresh = _refresh(paths, TIME_LIMIT_SECONDS)
    if (reason := refresh.rebuild_reason()) is not None:
        output.note(f"{reason}: recall rebuilds the full-text index once")
        _index_everything(paths)
        return
    result = refresh.run(doing="recall")
    if result.unfinished:
        _say_how_old(state, result.unfinished)


def _index_everything(paths: IndexPaths) -> None:
    refresh = _refresh(paths, None)
    refresh.patience_seconds = FIRST_PASS_SECONDS
    bar = Bar()
    refresh.on_progress = bar.show
    try:
        refresh.run()
    finally:
        bar.end()


def _refresh(paths: IndexPaths, time_limit_seconds: float | None) -> Refresh:
    # Imported late: importing DuckDB and tantivy takes longer than checking the files.
    from navi.memory.ingest.refresh import Refresh

    return Refresh(
        paths,
        sources(),
        searchable_fields(),
        clock(),
        time_limit_seconds=time_limit_seconds,
    )


def _say_how_old(state: Freshness, count: int) -> None:
    age = _age(state.refreshed_at)
    changed = "1 file has changed" if count == 1 else f"{count:,} files have changed"
    since = "" if state.refreshed_at is None else " since"
    pronoun = "it" if count == 1 else "them"
    output.note(f"the index is {age}: {changed}{since}; `recall index` reads {pronoun}")


def _age(refreshed_at: datetime | None) -> str:
    if refreshed_at is None:
        return "incomplete"
    age = formats.age(refreshed_at, clock().now())
    return "a moment old" if age == "0s ago" else f"from {age}"
