"""Claude Code's open sessions, with their processes and states."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from navi.base.platform import OTHERS_RECORD_SAME_START, process_start
from navi.live.agents.terminal.transcript_tail import AgentState
from navi.vendors.claude_code.home import ClaudeCodeHome

# "shell": idle while one of its commands runs in the background.
STATES = {
    "idle": AgentState.IDLE,
    "shell": AgentState.IDLE,
    "busy": AgentState.BUSY,
    "waiting": AgentState.ASKING,
}


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session in a running process of Claude Code, according to Claude Code's own record."""

    pid: int
    agent_session_id: str
    state: AgentState
    """`UNKNOWN` in versions that don't record it."""


def session_in_process(home: ClaudeCodeHome, pid: int) -> OpenSession | None:
    return _open_session(home.sessions / f"{pid}.json")


def holder_of(home: ClaudeCodeHome, agent_session_id: str) -> OpenSession | None:
    """The session, as recorded by the process that has it open; None if it is not open."""
    for path in sorted(home.sessions.glob("*.json")):
        session = _open_session(path)
        if session is not None and session.agent_session_id == agent_session_id:
            return session
    return None


def _open_session(path: Path) -> OpenSession | None:
    """The session in a record; None if its process has ended or the record can't be read."""
    try:
        record: Any = json.loads(path.read_text())
        pid = int(record["pid"])
        if not _is_alive(pid, record.get("procStart")):
            return None
        state = STATES.get(record.get("status"), AgentState.UNKNOWN)
        return OpenSession(pid, str(record["sessionId"]), state)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_alive(pid: int, recorded_start: object) -> bool:
    start = process_start(pid)
    # The id may belong to another process by now.
    is_recorded = OTHERS_RECORD_SAME_START and recorded_start is not None
    return bool(start) and (not is_recorded or str(recorded_start) == start)
