"""Which of Codex's threads are open, and whether Codex is busy with one."""

from __future__ import annotations

from pathlib import Path

from navi.base.file_locks import is_locked
from navi.base.platform import open_files
from navi.live.agents.terminal.transcript_tail import AgentState
from navi.vendors.codex.home import CodexHome
from navi.vendors.codex.records import TURN_BEGINNINGS, TURN_ENDS, event_in

TAIL_BYTES = 1 << 16


def thread_in_process(home: CodexHome, pid: int) -> str | None:
    """The thread whose lock the process holds."""
    paths = map(Path, open_files(pid))
    return next((path.stem for path in paths if path.parent.name == home.locks.name), None)


def is_open(home: CodexHome, thread: str) -> bool:
    """Whether any process holds the thread's lock."""
    return is_locked(home.locks / f"{thread}.lock")


def agent_state(home: CodexHome, thread: str, started: float = 0.0) -> AgentState:
    """What Codex is doing, judged by the last beginning or end of a turn in the rollout.

    `started` is when the process started, in seconds since 1970: a turn that began before ended
    with an earlier process.
    """
    path = home.rollout(thread)
    if path is None:  # a new thread
        return AgentState.IDLE
    with path.open("rb") as rollout:
        size = rollout.seek(0, 2)
        rollout.seek(max(0, size - TAIL_BYTES))
        lines = rollout.read().split(b"\n")
    for line in reversed(lines):
        kind, written_at = event_in(line)
        if kind in TURN_ENDS or (kind in TURN_BEGINNINGS and written_at < started):
            return AgentState.IDLE
        if kind in TURN_BEGINNINGS:
            return AgentState.BUSY
    # A long turn's beginning may be before the part that was read.
    return AgentState.BUSY if size > TAIL_BYTES else AgentState.IDLE
