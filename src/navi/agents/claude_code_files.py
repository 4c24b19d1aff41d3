"""Where Claude Code keeps what is of interest here: its transcripts, and who has a session open."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A process of Claude Code that has a session open now, by its own words."""

    pid: int
    agent_session_id: str
    status: str
    """`idle`, `busy` or `waiting`; empty where it says none."""
    cwd: str


@dataclass(frozen=True, slots=True)
class ClaudeCodeFiles:
    home: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> ClaudeCodeFiles:
        named = environment.get("CLAUDE_CONFIG_DIR")
        return cls(Path(named) if named else Path(environment.get("HOME", "~")) / ".claude")

    def transcript(self, agent_session_id: str) -> Path | None:
        return next(self.home.glob(f"projects/*/{agent_session_id}.jsonl"), None)

    def holder(self, agent_session_id: str) -> OpenSession | None:
        """Who has this session open."""
        return next(
            (each for each in self.open_sessions() if each.agent_session_id == agent_session_id),
            None,
        )

    def of_process(self, pid: int) -> OpenSession | None:
        return _entry(self.home / "sessions" / f"{pid}.json")

    def open_sessions(self) -> list[OpenSession]:
        found = (_entry(path) for path in sorted(self.home.glob("sessions/*.json")))
        return [each for each in found if each is not None]


def _entry(path: Path) -> OpenSession | None:
    """None for what a process that was killed left behind, and for what can't be read."""
    try:
        said: Any = json.loads(path.read_text())
        pid = int(said["pid"])
        if not _is_alive(pid, said.get("procStart")):
            return None
        return OpenSession(
            pid, str(said["sessionId"]), str(said.get("status") or ""), str(said.get("cwd") or "")
        )
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
    # The number may have been given to another process since.
    return fields[0] not in "ZX" and (started is None or str(started) == fields[19])


def _takes_signals(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
