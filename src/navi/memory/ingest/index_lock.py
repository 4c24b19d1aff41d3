"""One process writes the index at a time, and the others can see which one."""

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
    """0 if another process holds the lock but its id is unknown."""
    since: str
    doing: str

    @property
    def sentence(self) -> str:
        if not self.pid:
            return "another process is writing"
        return f"process {self.pid} has been writing since {self.since} ({self.doing})"


@contextmanager
def exclusive(
    path: Path, doing: str, now: datetime, *, patience_seconds: float = 0.0
) -> Iterator[None]:
    """Hold the lock alone, or raise `IndexBusy` after `patience_seconds`."""
    descriptor = _open(path)
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
    """Hold the lock together with other processes that share it."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether any process holds the lock, shared or exclusive."""
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def holder(path: Path) -> Holder | None:
    """The process that holds the lock exclusively (pid 0 if unknown); None if no process does."""
    try:
        with open(path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return _read_holder(path) or Holder(0, "", "")
    except FileNotFoundError:
        pass
    return None


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _take(descriptor: int, path: Path, patience_seconds: float) -> None:
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise _busy(path) from None
        time.sleep(PAUSE_SECONDS)


def _busy(path: Path) -> IndexBusy:
    holder = _read_holder(path)
    who = "another process"
    if holder is not None:
        who = f"process {holder.pid} (`{holder.doing}`, since {holder.since})"
    return IndexBusy(
        f"{who} is writing the index",
        hint="try again when it is done; you can search in the meantime",
    )


def _read_holder(path: Path) -> Holder | None:
    try:
        note = json.loads(path.read_bytes())
        return Holder(int(note["pid"]), str(note["since"]), str(note["doing"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
