"""Who may write the index: one process at a time, told at once who it is."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from navi.index.errors import IndexBusy


@dataclass(frozen=True, slots=True)
class Holder:
    pid: int
    since: str
    doing: str


@contextmanager
def held(path: Path, doing: str, now: datetime) -> Iterator[None]:
    """The system lets go of it when the process ends, however it ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _busy(path) from None
        note = {"pid": os.getpid(), "since": now.isoformat(timespec="seconds"), "doing": doing}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(note).encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


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


def _busy(path: Path) -> IndexBusy:
    noted = _noted(path)
    who = "another process"
    if noted is not None:
        who = f"process {noted.pid} (`{noted.doing}`, since {noted.since})"
    return IndexBusy(f"{who} is writing the index", hint="wait for it; searching works meanwhile")


def _noted(path: Path) -> Holder | None:
    try:
        note = json.loads(path.read_bytes())
        return Holder(int(note["pid"]), str(note["since"]), str(note["doing"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
