"""The index follows the files live."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from threading import Event

from watchfiles import watch

from navi.index.errors import IndexBusy
from navi.index.outcome import Refreshed
from navi.index.refresh import Refresh
from navi.sources.source import Source

QUIET_MILLISECONDS = 200
"""Changes that come closer together than this are read at once."""
LOOK_AGAIN_MILLISECONDS = 5_000
"""An agent's first session ever makes folders that nobody could watch before."""


def follow(refresh: Refresh, told: Callable[[Refreshed], None], ended: Event | None = None) -> None:
    """Refresh whenever files change, until `ended` or interrupted."""
    ended = ended or Event()
    while not ended.is_set():
        folders = watched_folders(refresh.sources.values())
        changes = watch(
            *folders,
            step=QUIET_MILLISECONDS,
            rust_timeout=LOOK_AGAIN_MILLISECONDS,
            yield_on_timeout=True,
            stop_event=ended,
            raise_interrupt=True,
        )
        _refresh(refresh, told)
        if not folders:
            ended.wait(LOOK_AGAIN_MILLISECONDS / 1000)
            continue
        # Watching begins with the first look: of what changed since the reading nobody is told.
        is_first = True
        for change in changes:
            if change or is_first:
                _refresh(refresh, told)
                is_first = False
            elif watched_folders(refresh.sources.values()) != folders:
                break


def watched_folders(sources: Iterable[Source]) -> list[str]:
    """Per source the folder that holds all of its files, and those of new projects."""
    found = set()
    for source in sources:
        folders = {os.path.dirname(file.path) for file in source.discover()}
        existing = [folder for folder in folders if os.path.isdir(folder)]
        if len(existing) == 1:
            found.add(os.path.dirname(existing[0]))
        elif existing:
            found.add(os.path.commonpath(existing))
    return sorted(found)


def _refresh(refresh: Refresh, told: Callable[[Refreshed], None]) -> None:
    try:
        told(refresh.run(doing="recall watch"))
    except IndexBusy:
        pass  # whoever writes now reads the same files
