"""Which of Codex's threads are open, and what it is doing with them."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from navi.live.agents.terminal.transcript_tail import AgentState
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.records import TURN_BEGINNINGS, TURN_ENDS, turn_event

TAIL_BYTES = 1 << 16


def thread_of(home: CodexHome, pid: int) -> str | None:
    """The thread whose lock the process holds."""
    for handle in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            path = handle.readlink()
        except OSError:
            continue
        if path.parent.name == home.locks.name:
            return path.stem
    return None


def is_open(home: CodexHome, thread: str) -> bool:
    """Whether any process holds the thread's lock."""
    try:
        lock = os.open(home.locks / f"{thread}.lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def agent_state(home: CodexHome, thread: str, started: float = 0.0) -> AgentState:
    """By the last line of its rollout that is about turns. A new thread has none yet.

    A turn that began before `started` died with another process.
    """
    path = home.rollout(thread)
    if path is None:
        return AgentState.IDLE
    with path.open("rb") as rollout:
        size = rollout.seek(0, 2)
        rollout.seek(max(0, size - TAIL_BYTES))
        lines = rollout.read().split(b"\n")
    for line in reversed(lines):
        kind, written_at = turn_event(line)
        if kind in TURN_ENDS or (kind in TURN_BEGINNINGS and written_at < started):
            return AgentState.IDLE
        if kind in TURN_BEGINNINGS:
            return AgentState.BUSY
    # The turn has written so much that its beginning is out of sight.
    return AgentState.BUSY if size > TAIL_BYTES else AgentState.IDLE
