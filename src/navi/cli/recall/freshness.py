"""Index what is new before `recall search` and `recall list` answer.

If that would take too long, they answer from the old index and say how old it is.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from navi.base.errors import NaviError
from navi.cli import formats, output
from navi.cli.recall.options import clock
from navi.cli.recall.progress import Bar
from navi.memory.index_paths import Places
from navi.memory.index_settings import searchable_fields
from navi.memory.ingest.freshness import Freshness, freshness
from navi.memory.resume import agents

if TYPE_CHECKING:
    from navi.memory.ingest.refresh import Refresh

TIME_LIMIT_SECONDS = 1.0


def bring_up_to_date(places: Places) -> None:
    """Never fails: an old answer with a remark is better than none."""
    try:
        _bring_up_to_date(places)
    except NaviError as error:
        output.note(f"note: can't index new messages: {error.message}")


def _bring_up_to_date(places: Places) -> None:
    if not places.database.exists():
        output.note("indexing your agents' sessions for the first time")
        _index_everything(places)
        return
    state = freshness(places, agents(), searchable_fields(), clock().now())
    if state.is_up_to_date:
        return
    if state.is_quick_to_refresh:
        result = _refresh(places, TIME_LIMIT_SECONDS).run(doing="recall", scan=state.scan)
        if result.left:
            _say_how_old(state, result.left)
    elif state.scan is not None:
        _say_how_old(state, len(state.scan.plan.changed))
    else:
        _refresh_unknown_state(places, state)


def _refresh_unknown_state(places: Places, state: Freshness) -> None:
    """Only the engines know what is missing if a run was killed or another version wrote it."""
    refresh = _refresh(places, TIME_LIMIT_SECONDS)
    if refresh.needs_rebuild():
        output.note("this version of recall rebuilds the full-text index once")
        _index_everything(places)
        return
    result = refresh.run(doing="recall")
    if result.left:
        _say_how_old(state, result.left)


def _index_everything(places: Places) -> None:
    refresh = _refresh(places, None)
    bar = Bar()
    refresh.on_progress = bar.show
    try:
        refresh.run()
    finally:
        bar.end()


def _refresh(places: Places, time_limit_seconds: float | None) -> Refresh:
    # Imported late: the engines take longer to import than checking the files takes.
    from navi.memory.ingest.refresh import Refresh

    return Refresh(
        places,
        agents(),
        searchable_fields(),
        clock(),
        time_limit_seconds=time_limit_seconds,
    )


def _say_how_old(state: Freshness, files: int) -> None:
    age = _age(state.refreshed_at)
    changed = "1 file has changed" if files == 1 else f"{files:,} files have changed"
    rest = "it" if files == 1 else "them"
    output.note(f"the index is {age}: {changed} since; `recall index` reads {rest}")


def _age(refreshed_at: datetime | None) -> str:
    if refreshed_at is None:
        return "incomplete"
    age = formats.age(refreshed_at, clock().now())
    return "a moment old" if age == "just now" else f"from {age}"
