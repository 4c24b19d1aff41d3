"""`navi setup`: what it changes in agents' own settings, and that it takes everything back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import navi
from tests.server import NAVI

SETTINGS = """\
{
    "model": "opus",
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "permissions": {"allow": ["Bash(git status:*)"]}
}"""
CONFIG = 'model = "gpt-5"  # my favourite\n\n[tui]\nshow_tooltips = false'
FILES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
}
HOOK = Path(navi.__file__).parent / "hook.py"


def setup(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NAVI, "setup", *arguments], capture_output=True, text=True, timeout=60)


def write_files(home: Path, agent: str) -> dict[Path, bytes]:
    texts = {
        ".claude/settings.json": SETTINGS,
        ".claude.json": '{\n  "numStartups": 3,\n  "mcpServers": {"mine": {"command": "x"}}\n}\n',
        ".codex/hooks.json": SETTINGS,
        ".codex/config.toml": CONFIG,
    }
    paths = [home / name for name in FILES[agent]]
    for path, name in zip(paths, FILES[agent], strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text(texts[name])
    return {path: path.read_bytes() for path in paths}


@pytest.mark.parametrize("agent", FILES)
def test_installed_and_removed_leaves_every_file_as_it_was(private_home: Path, agent: str) -> None:
    before = write_files(private_home, agent)

    assert setup(agent).returncode == 0
    assert all(path.read_bytes() != data for path, data in before.items())
    again = {path: path.read_bytes() for path in before}
    assert setup(agent).returncode == 0
    assert {path: path.read_bytes() for path in before} == again
    assert setup(agent, "--remove").returncode == 0

    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("agent", FILES)
def test_where_there_were_no_files_there_are_none_afterwards(
    private_home: Path, agent: str
) -> None:
    setup(agent)
    assert all((private_home / name).exists() for name in FILES[agent])
    setup(agent, "--remove")
    assert not any((private_home / name).exists() for name in FILES[agent])


@pytest.mark.parametrize("agent", FILES)
def test_what_somebody_changed_meanwhile_stays(private_home: Path, agent: str) -> None:
    hooks, servers = write_files(private_home, agent)
    setup(agent)
    changed = {**json.loads(hooks.read_text()), "theirs": True}
    hooks.write_text(json.dumps(changed))
    servers.write_text(servers.read_text() + "\n")

    setup(agent, "--remove")

    settings = json.loads(hooks.read_text())
    assert settings == {**json.loads(SETTINGS), "theirs": True}
    assert "navi" not in servers.read_text()


@pytest.mark.parametrize("agent", FILES)
def test_a_dry_run_shows_the_difference_and_changes_nothing(private_home: Path, agent: str) -> None:
    before = write_files(private_home, agent)
    shown = setup(agent, "--dry-run").stdout
    assert "hook.py" in shown
    assert "mcp" in shown
    assert {path: path.read_bytes() for path in before} == before


def test_what_is_installed_is_what_the_agents_read(private_home: Path) -> None:
    hooks, _ = write_files(private_home, "claude-code")
    setup("claude-code")
    setup("codex")
    installed = json.loads(hooks.read_text())["hooks"]
    assert installed["Stop"][0]["hooks"][0]["command"] == "say done"
    assert str(HOOK) in installed["Stop"][1]["hooks"][0]["command"]
    config = tomllib.loads((private_home / ".codex/config.toml").read_text())
    assert config["mcp_servers"]["navi"]["args"][-1] == "mcp"


def test_a_file_that_is_no_json_is_left_alone(private_home: Path) -> None:
    hooks, _ = write_files(private_home, "claude-code")
    hooks.write_text("{ // mine")
    done = setup("claude-code")
    assert done.returncode == 1
    assert "hint:" in done.stderr
    assert hooks.read_text() == "{ // mine"


def test_a_hook_without_a_server_says_nothing_and_succeeds(tmp_path: Path) -> None:
    python = [os.path.realpath(sys.executable), "-I", "-S"]
    done = subprocess.run(
        [*python, str(HOOK), "claude_code", "http://127.0.0.1:9", str(tmp_path / "none")],
        input=b'{"hook_event_name": "Stop", "session_id": "s"}',
        capture_output=True,
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
