"""The commands in agents' settings reach Navi, and do no harm once it is gone."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from navi.vendors import agent_commands
from navi.vendors.agent_commands import hook_command, mcp_command
from tests.integration.vendors.hook_server import ANSWER, HOOK, REPORT, server

SHELLS = [name for name in ("dash", "bash", "zsh", "fish") if shutil.which(name)]
QUIET = (0, b"", b"")
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}},
}
LONGER_THAN_A_PIPE = json.dumps({**REPORT, "tool_response": "x" * 1_000_000}).encode()


@pytest.fixture(params=["plain", "with spaces", """it's "quoted" $HOME `and` \\ more"""])
def navi(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a Python, Navi's hook, Navi itself and its home in it."""
    folder = tmp_path / str(request.param) / "navi"
    folder.mkdir(parents=True)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(os.path.realpath(sys.executable))} "$@"\n')
    python.chmod(0o700)
    shutil.copy(HOOK, folder / "hook.py")
    (folder / "home").mkdir()
    (folder / "home" / "token").write_text("secret")
    (folder / "navi/cli/navi").mkdir(parents=True)
    (folder / "navi/cli/navi/main.py").write_text("import sys\nprint(sys.stdin.read())")
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(agent_commands, "HOOK_SCRIPT", str(folder / "hook.py"))
    monkeypatch.setenv("NAVI_HOME", str(folder / "home"))
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def run_hook(shell: str, command: str, report: bytes = b"") -> tuple[int, bytes, bytes]:
    done = subprocess.run([shell, "-c", command], input=report, capture_output=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def run_tools(requests: list[object]) -> list[str]:
    text = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in requests)
    done = subprocess.run(
        mcp_command(), input=text, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_the_hook_reaches_the_server_whatever_its_folder_is_called(navi: Path, shell: str) -> None:
    with server(ANSWER) as (address, received):
        report = json.dumps(REPORT).encode()
        assert run_hook(shell, hook_command("claude_code", address), report) == (0, ANSWER, b"")
    assert b"Bearer secret" in received[0]


@pytest.mark.parametrize("gone", ["python", "hook.py", "home", "."])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_hook_without_its_files_says_nothing_and_succeeds(
    navi: Path, shell: str, gone: str
) -> None:
    command = hook_command("claude_code", "http://127.0.0.1:9")
    path = navi / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert run_hook(shell, command, LONGER_THAN_A_PIPE) == QUIET


@pytest.mark.parametrize("ending", ["exit 2", "exit 1", "kill -9 $$", "echo oops >&2; exit 127"])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_python_that_fails_does_not_fail_the_hook(navi: Path, shell: str, ending: str) -> None:
    (navi / "python").write_text(f"#!/bin/sh\n{ending}\n")
    command = hook_command("codex", "http://127.0.0.1:9")
    assert run_hook(shell, command, LONGER_THAN_A_PIPE) == QUIET


def test_the_tools_are_started_whatever_their_folder_is_called(navi: Path) -> None:
    assert json.loads(run_tools([HELLO])[0]) == HELLO


@pytest.mark.parametrize("gone", ["python", "navi", "."])
def test_without_navi_an_agent_gets_an_answer_but_no_tools(navi: Path, gone: str) -> None:
    path = navi / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    tools = {"method": "tools/list", "jsonrpc": "2.0", "id": "list-1"}

    greeting, listing = map(json.loads, run_tools([HELLO, initialized, tools]))

    assert greeting["id"] == 0
    assert greeting["result"]["serverInfo"]["name"] == "navi"
    assert set(greeting["result"]) == {"protocolVersion", "capabilities", "serverInfo"}
    assert listing == {"jsonrpc": "2.0", "id": "list-1", "result": {"tools": []}}


def test_the_tools_import_nothing_from_the_folder_in_which_the_agent_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "click.py").write_text("open('imported', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NAVI_URL", "http://127.0.0.1:9")
    assert json.loads(run_tools([HELLO])[0])["result"]["serverInfo"]["name"] == "navi"
    assert not (tmp_path / "imported").exists()


def test_claude_code_finds_nothing_in_the_guards_to_replace_by_variables() -> None:
    assert "${" not in agent_commands.HOOK_WRAPPER + agent_commands.MCP_WRAPPER
