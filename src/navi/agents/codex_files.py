"""Where Codex keeps what is of interest here: its rollouts, and who has a thread open."""

from __future__ import annotations

import fcntl
import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from navi.live.agents.terminal.transcript_tail import Mood

LOCKS = "thread-writer-locks"
TAIL_BYTES = 1 << 16
BEGINNINGS, ENDS = {"task_started"}, {"task_complete", "turn_aborted"}


@dataclass(frozen=True, slots=True)
class CodexFiles:
    home: Path

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> CodexFiles:
        named = environment.get("CODEX_HOME")
        return cls(Path(named) if named else Path(environment.get("HOME", "~")) / ".codex")

    def knows_server(self, name: str) -> bool:
        """Whether its settings name an MCP server so."""
        try:
            settings = tomllib.loads((self.home / "config.toml").read_text())
        except (OSError, ValueError):
            return False
        servers = settings.get("mcp_servers")
        return isinstance(servers, dict) and name in servers

    def rollout(self, thread: str) -> Path | None:
        return next(self.home.glob(f"sessions/*/*/*/rollout-*-{thread}.jsonl"), None)

    def last_turn(self, thread: str) -> list[bytes]:
        """The lines of the thread's last turn; none if its rollout does not say where it began."""
        path = self.rollout(thread)
        content = b"" if path is None else path.read_bytes()
        # Inside a text the quotes would be escaped.
        beginning = max(content.rfind(b'"type":"%s"' % kind.encode()) for kind in BEGINNINGS)
        if beginning < 0:
            return []
        return content[content.rfind(b"\n", 0, beginning) + 1 :].splitlines()

    def thread_of(self, pid: int) -> str | None:
        """The thread whose lock the process holds."""
        for handle in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                held = handle.readlink()
            except OSError:
                continue
            if held.parent.name == LOCKS:
                return held.stem
        return None

    def is_open(self, thread: str) -> bool:
        """Whether any process holds the thread's lock."""
        try:
            lock = os.open(self.home / LOCKS / f"{thread}.lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(lock)
        return False

    def mood(self, thread: str, started: float = 0.0) -> Mood:
        """By the last word of its rollout about turns. A new thread has none yet.

        A turn that began before `started` died with another process.
        """
        path = self.rollout(thread)
        if path is None:
            return Mood.IDLE
        with path.open("rb") as rollout:
            size = rollout.seek(0, 2)
            rollout.seek(max(0, size - TAIL_BYTES))
            lines = rollout.read().split(b"\n")
        for line in reversed(lines):
            kind, at = _event(line)
            if kind in ENDS or (kind in BEGINNINGS and at < started):
                return Mood.IDLE
            if kind in BEGINNINGS:
                return Mood.BUSY
        # So much was said since a turn began that its beginning is out of sight.
        return Mood.BUSY if size > TAIL_BYTES else Mood.IDLE


def _event(line: bytes) -> tuple[str | None, float]:
    """The kind of a line about turns, and when it was written."""
    if b'"event_msg"' not in line:
        return None, 0.0
    try:
        said = json.loads(line)
        moment = datetime.fromisoformat(said["timestamp"]).timestamp()
        return str(said["payload"]["type"]), moment
    except (ValueError, KeyError, TypeError):
        return None, 0.0
