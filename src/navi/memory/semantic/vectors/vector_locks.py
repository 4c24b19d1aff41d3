"""Who may write vectors: one process at a time, and a person's command before the background."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from pathlib import Path

from navi.memory.ingest import index_lock

LOCK, FOREGROUND = "lock", "foreground"
BACKGROUND_SECONDS = 30.0
"""How long the background may take to finish the passages it is working on."""


def writing(folder: Path, now: datetime, doing: str) -> AbstractContextManager[None]:
    """Be the only writer, or raise `IndexBusy`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return index_lock.exclusive(folder / LOCK, doing, now)


@contextmanager
def foreground(folder: Path, now: datetime, doing: str) -> Iterator[None]:
    """Run a person's command while the background waits."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with index_lock.exclusive(folder / FOREGROUND, doing, now):
        # Once this can be taken, the background has stopped.
        with index_lock.exclusive(folder / LOCK, doing, now, patience_seconds=BACKGROUND_SECONDS):
            pass
        yield


def must_give_way(folder: Path) -> bool:
    return index_lock.is_held(folder / FOREGROUND)


def wait_for_foreground(folder: Path) -> None:
    with index_lock.shared(folder / FOREGROUND):
        pass
