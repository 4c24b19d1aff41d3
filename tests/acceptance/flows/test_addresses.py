"""Servers that share a machine, and how commands find the one of their home."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.loopback import OWN_HOST, needs_own_host
from tests.server import NAVI, ServerProcess
from tests.waiting import eventually

SM = [sys.executable, "-m", "navi.cli.sm.main"]


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def run(server: ServerProcess, *command: str) -> subprocess.CompletedProcess[str]:
    """As a person who has set nothing but the home."""
    return subprocess.run(command, env=server.environment, capture_output=True, text=True)


@needs_own_host
def test_two_homes_are_served_side_by_side_and_each_command_finds_its_own(
    tmp_path: Path, stack: ExitStack
) -> None:
    usual, next_one = f"http://{OWN_HOST}:8420", f"http://{OWN_HOST}:8421"
    servers = [
        stack.enter_context(ServerProcess(tmp_path / name, arguments=("--host", OWN_HOST)))
        for name in ("a", "b")
    ]
    assert [server.address for server in servers] == [usual, next_one]
    for server, name in zip(servers, ("one", "two"), strict=True):
        spawned = run(server, *SM, "spawn", "--name", name, "--driver", "scripted")
        assert spawned.returncode == 0, spawned.stderr
        link = run(server, *NAVI, "login", "--no-open").stdout
        assert link.startswith(f"{server.address}/login#")
    assert "port 8420 is used by another program; using 8421 instead" in servers[1].log()
    for server, name, other in ((servers[0], "one", "two"), (servers[1], "two", "one")):
        listing = run(server, *SM, "status").stdout
        assert name in listing
        assert other not in listing

    first, second = servers
    first.stop()
    second.stop()
    second.start()
    assert second.address == next_one, "browsers and agents know it by this address"
    assert second.log().count("is used by another program") == 1


@pytest.mark.proof
def test_a_second_server_without_a_port_says_where_the_first_one_is(
    tmp_path: Path, stack: ExitStack
) -> None:
    server = stack.enter_context(ServerProcess(tmp_path / "a"))
    second = run(server, *NAVI, "serve", "--no-open")
    assert second.returncode == 2
    assert f"a server already runs for this home at {server.address}" in second.stderr
    assert "hint: " in second.stderr

    shared = ServerProcess(tmp_path / "a", settings={"NAVI_SERVER_PORT": "0"}, arguments=())
    stack.enter_context(shared)
    assert shared.address != server.address
    assert run(server, *SM, "status").returncode == 0


def test_a_fixed_port_that_is_taken_is_refused_as_before(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        environment = {**os.environ, "NAVI_HOME": str(tmp_path / "a")}
        for command, variables in (
            ([*NAVI, "serve", "--no-open", "--port", str(port)], {}),
            ([*NAVI, "serve", "--no-open"], {"NAVI_SERVER_PORT": str(port)}),
        ):
            done = subprocess.run(
                command, env={**environment, **variables}, capture_output=True, text=True
            )
            assert done.returncode == 2
            assert f"can't listen on 127.0.0.1:{port}" in done.stderr
            assert f"navi serve --port {port + 1}" in done.stderr
    assert not (tmp_path / "a" / "address").exists()


@pytest.mark.proof
async def test_the_address_of_a_killed_server_is_forgotten_and_a_stopped_one_removes_it(
    tmp_path: Path, stack: ExitStack
) -> None:
    server = stack.enter_context(ServerProcess(tmp_path / "a"))
    file = Path(server.environment["NAVI_HOME"]) / "address"
    server.kill()
    assert file.read_text().strip() == server.address
    finding = json.loads(run(server, *NAVI, "doctor", "--json").stdout)
    [detail] = [each["detail"] for each in finding if each["name"] == "server"]
    assert server.address.partition("://")[2] not in detail
    server.start()
    assert file.read_text().strip() == server.address
    assert run(server, *SM, "status").returncode == 0
    assert server.stop() == 130
    await eventually(lambda: not file.exists(), "the address file is gone")


@pytest.mark.proof
def test_hooks_and_tools_that_were_set_up_before_find_the_server_of_their_home(
    tmp_path: Path, stack: ExitStack
) -> None:
    home = tmp_path / "a"
    server = stack.enter_context(ServerProcess(home))
    environment = server.environment
    subprocess.run(
        [*NAVI, "setup", "claude-code"], env=environment, check=True, capture_output=True
    )
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["navi"]
    assert set(entry["env"]) == {"NAVI_HOME"}
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}})
    mcp = subprocess.Popen(
        [entry["command"], *entry["args"]],
        env={"PATH": os.environ["PATH"], "HOME": str(home), **entry["env"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with mcp:
        assert mcp.stdin is not None
        assert mcp.stdout is not None
        addresses = {server.address}
        for _ in range(2):
            mcp.stdin.write(request + "\n")
            mcp.stdin.flush()
            assert "schedule_recall" in mcp.stdout.readline()
            server.stop()
            server.start()
            addresses.add(server.address)
    assert len(addresses) > 1

    settings = json.loads((home / ".claude/settings.json").read_text())
    [group] = settings["hooks"]["SessionStart"]
    report = {
        "session_id": "5f0e8c0a-0000-4000-8000-000000000001",
        "hook_event_name": "SessionStart",
        "source": "startup",
        "cwd": str(home),
        "transcript_path": str(home / "t.jsonl"),
    }
    hook = subprocess.run(
        ["/bin/sh", "-c", group["hooks"][0]["command"]],
        input=json.dumps(report),
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        text=True,
    )
    assert hook.returncode == 0
    assert "claude_code" in run(server, *SM, "status", "--json").stdout
