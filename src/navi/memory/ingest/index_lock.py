"""Who may write the index: one process at a time, and everyone else learns who it is."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from navi.memory.index_errors import IndexBusy

PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Holder:
    pid: int
    since: str
    doing: str


@contextmanager
def held(path: Path, doing: str, now: datetime, *, patience_seconds: float = 0.0) -> Iterator[None]:
    """The system releases it when the process ends, however it ends."""
    descriptor = _opened(path)
    try:
        _take(descriptor, path, patience_seconds)
        note = {"pid": os.getpid(), "since": now.isoformat(timespec="seconds"), "doing": doing}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(note).encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


@contextmanager
def shared(path: Path) -> Iterator[None]:
    """Held beside others who share it."""
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """By anybody, shared or alone."""
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def holder(path: Path) -> Holder | None:
    """Who has it now; None if nobody."""
    try:
        with open(path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _noted(path) or Holder(0, "", "")
    except FileNotFoundError:
        pass
    return None


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _take(descriptor: int, path: Path, patience_seconds: float) -> None:
    give_up_at = time.monotonic() + patience_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= give_up_at:
                raise _busy(path) from None
        time.sleep(PAUSE_SECONDS)


def _busy(path: Path) -> IndexBusy:
    noted = _noted(path)
    who = "another process"
    if noted is not None:
        who = f"process {noted.pid} (`{noted.doing}`, since {noted.since})"
    return IndexBusy(
        f"{who} is writing the index",
        hint="try again when it is done; you can search meanwhile",
    )


def _noted(path: Path) -> Holder | None:
    try:
        note = json.loads(path.read_bytes())
        return Holder(int(note["pid"]), str(note["since"]), str(note["doing"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
