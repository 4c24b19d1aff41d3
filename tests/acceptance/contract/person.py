"""`sm` as a real command, run by a person or an agent."""

from __future__ import annotations

import copy
import os
import re
import subprocess
import sys
from uuid import uuid4

from navi.client import Client as NaviClient
from navi.client import Server
from tests.acceptance.contract import command_runs
from tests.server import ServerProcess


class Person:
    """A person at a terminal, or a session's agent in its shell."""

    def __init__(self, server: ServerProcess) -> None:
        self.address = server.address
        self.navi = NaviClient(Server(server.address, server.token, "the test"))
        self.environment = {
            **os.environ,
            "NAVI_HOME": server.environment["NAVI_HOME"],
            "NAVI_URL": server.address,
            "TZ": "UTC",
        }

    def session(self, parent_id: str | None = None) -> tuple[str, str]:
        """Create a session with a unique name; return its id and name."""
        name = f"builder-{uuid4().hex}"
        made = self.navi.create_session(name=name, driver="scripted", parent_id=parent_id)
        return made["id"], made["name"]

    def agent_of(self, session_id: str) -> Person:
        """The agent that works in that session."""
        return self.with_environment(NAVI_SESSION_ID=session_id)

    def in_zone(self, timezone: str) -> Person:
        """The same person on a machine in another time zone."""
        return self.with_environment(TZ=timezone)

    def with_environment(self, **values: str) -> Person:
        other = copy.copy(self)
        other.environment = {**self.environment, **values}
        return other

    def sm(self, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return command_runs.run(["sm", *arguments], self.environment, typed)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a command that keeps running; its lines are read as they come."""
        return subprocess.Popen(
            [sys.executable, "-m", "navi.cli.sm.main", *arguments],
            env={**self.environment, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, typed: str = "") -> str:
        done = self.sm(*arguments, typed=typed)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refused(self, *arguments: str, code: int = 1) -> str:
        done = self.sm(*arguments)
        assert (done.returncode, done.stdout) == (code, "")
        assert re.fullmatch("error: .+\nhint: .+\n", done.stderr)
        return done.stderr
