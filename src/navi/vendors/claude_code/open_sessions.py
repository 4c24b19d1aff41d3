"""Which of Claude Code's sessions are open, in which processes, and what they are doing."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navi.base.process_start import process_start
from navi.live.agents.terminal.transcript_tail import AgentState
from navi.vendors.claude_code.home import ClaudeCodeHome

# With "shell" it is idle while one of its commands runs in the background.
STATES = {
    "idle": AgentState.IDLE,
    "shell": AgentState.IDLE,
    "busy": AgentState.BUSY,
    "waiting": AgentState.ASKING,
}


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A running process of Claude Code, according to its own record."""

    pid: int
    agent_session_id: str
    state: AgentState
    """`UNKNOWN` in versions that don't record it."""


def open_in_process(home: ClaudeCodeHome, pid: int) -> OpenSession | None:
    return _open_session(home.sessions / f"{pid}.json")


def holder_of(home: ClaudeCodeHome, agent_session_id: str) -> OpenSession | None:
    """The process that has this session open."""
    records = map(_open_session, sorted(home.sessions.glob("*.json")))
    return next(
        (each for each in records if each and each.agent_session_id == agent_session_id), None
    )


def _open_session(path: Path) -> OpenSession | None:
    """None if the process was killed or the record can't be read."""
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
    start = process_start(pid)
    # The number may belong to another process by now. Claude Code writes starts as Linux does.
    is_same = started is None or sys.platform != "linux" or str(started) == start
    return bool(start) and is_same
