"""Which of Claude Code's sessions are open, in which processes, and what those are doing."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navi.live.agents.terminal.transcript_tail import AgentState
from navi.vendors.claude_code.home import ClaudeCodeHome

# With "shell" it is idle, and a command of its own runs on in the background.
STATES = {
    "idle": AgentState.IDLE,
    "shell": AgentState.IDLE,
    "busy": AgentState.BUSY,
    "waiting": AgentState.ASKING,
}


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A running process of Claude Code, by its own record."""

    pid: int
    agent_session_id: str
    state: AgentState
    """`UNKNOWN` in versions that don't write it down."""


def open_in_process(home: ClaudeCodeHome, pid: int) -> OpenSession | None:
    return _open_session(home.sessions / f"{pid}.json")


def holder_of(home: ClaudeCodeHome, agent_session_id: str) -> OpenSession | None:
    """The process that has this session open."""
    records = map(_open_session, sorted(home.sessions.glob("*.json")))
    return next(
        (each for each in records if each and each.agent_session_id == agent_session_id), None
    )


def _open_session(path: Path) -> OpenSession | None:
    """None for what a killed process left behind, and for what can't be read."""
    try:
        record: Any = json.loads(path.read_text())
        pid = int(record["pid"])
        if not _is_alive(pid, record.get("procStart")):
            return None
        state = STATES.get(record.get("status"), AgentState.UNKNOWN)
        return OpenSession(pid, str(record["sessionId"]), state)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_alive(pid: int, started: object) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        if Path("/proc/self/stat").exists():
            return False
        return _takes_signals(pid)
    fields = status[status.rindex(")") + 2 :].split()
    # The number may belong to another process by now.
    return fields[0] not in "ZX" and (started is None or str(started) == fields[19])


def _takes_signals(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
