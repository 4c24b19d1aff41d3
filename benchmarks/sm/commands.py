"""`sm` as a command: a new process each time, as an agent's shell starts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.turns.figures import Row, Spread, spread_of, times
from navi.client import Client, Server
from navi.vendors.agent_commands import hook_command
from tests.server import ServerProcess

BIN = Path(sys.executable).parent


def measure(server: ServerProcess, store: str, repeated: int) -> list[Row]:
    client = Client(Server(server.address, server.token, "the benchmark"))
    session = client.create_session(name="worker", driver="scripted")
    environment = {
        **os.environ,
        "NAVI_HOME": server.environment["NAVI_HOME"],
        "NAVI_URL": server.address,
        "NAVI_SESSION_ID": session["id"],
    }
    curl = [
        *("curl", "-s", "-o", os.devnull, "-H", f"Authorization: Bearer {server.token}"),
        *("-d", '{"text": "x"}', f"{server.address}/sessions/{session['id']}/agent-status"),
    ]
    python = _spread([sys.executable, "-c", "pass"], environment, repeated)
    bare = _spread(curl, environment, repeated)
    rows = [
        Row("Python that does nothing", store, spread=python),
        Row("the same report by curl", store, spread=bare),
    ]
    for words in (["status", "x"], ["status"], ["children"], ["--help"]):
        taken = _spread([str(BIN / "sm"), *words], environment, repeated)
        beside = times(taken.p50, python.p50, "Python that does nothing")
        command_line = " ".join('"x"' if word == "x" else word for word in words)
        rows.append(Row(f"`sm {command_line}`", store, spread=taken, beside=beside))
    for event in ("PostToolUse", "Stop"):
        taken = _hook(server, event, repeated)
        beside = times(taken.p50, python.p50, "Python that does nothing")
        rows.append(Row(f"hook {event}, with a server", store, spread=taken, beside=beside))
    return rows


def _hook(server: ServerProcess, event: str, repeated: int) -> Spread:
    """The time of a hook, run in the same way as by a person's agent."""
    environment = {**os.environ, "NAVI_URL": server.address, "NAVI_TOKEN": server.token}
    environment.pop("NAVI_SESSION_ID", None)
    command = ["/bin/sh", "-c", hook_command("claude_code", server.address)]
    report = {"hook_event_name": event, "session_id": "benchmark", "cwd": str(server.home)}
    return _spread(command, environment, repeated, json.dumps(report).encode())


def _spread(
    command: Sequence[str], environment: Mapping[str, str], repeated: int, stdin: bytes = b""
) -> Spread:
    taken = []
    for _ in range(repeated + 1):
        started_at = time.perf_counter()
        subprocess.run(command, env=environment, check=True, capture_output=True, input=stdin)
        taken.append((time.perf_counter() - started_at) * 1000)
    # The first run reads files that the others find in memory.
    return spread_of(taken[1:])
