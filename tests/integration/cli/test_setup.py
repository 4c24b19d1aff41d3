"""`navi setup`: its changes to agents' settings, and that it can undo all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import navi
from navi.vendors.hook_entries import find_hook_command
from scripts.terminal_pictures import run_in_terminal
from tests.integration.cli.agent_settings import CONFIG, FILES, SETTINGS, setup, write_files
from tests.server import NAVI

HOOK = Path(navi.__file__).parent / "hook.py"


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
def test_what_somebody_has_changed_since_stays(private_home: Path, agent: str) -> None:
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
    output = setup(agent, "--dry-run").stdout
    assert "hook.py" in output
    assert "mcp" in output
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


@pytest.mark.parametrize(
    ("version", "added"),
    [
        ("2.1.325", {"PermissionRequest", "StopFailure"}),
        ("2.1.80", {"StopFailure"}),
        ("2.0.1", set()),
    ],
)
def test_an_agent_gets_only_hooks_that_its_version_knows(
    private_home: Path, monkeypatch: pytest.MonkeyPatch, version: str, added: set[str]
) -> None:
    program = private_home / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    settings = private_home / ".claude" / "settings.json"

    setup("claude-code")
    hooks = json.loads(settings.read_text())["hooks"]
    assert {"SessionStart", "Stop"} <= set(hooks)
    assert {"PermissionRequest", "StopFailure"} & set(hooks) == added
    if "PermissionRequest" in added:
        [entry] = hooks["PermissionRequest"][0]["hooks"]
        assert entry["timeout"] == 7 * 86_400

    setup("claude-code", "--remove")
    assert not settings.exists()


def test_a_file_that_is_not_json_is_left_alone(private_home: Path) -> None:
    hooks, _ = write_files(private_home, "claude-code")
    hooks.write_text("{ // mine")
    done = setup("claude-code")
    assert done.returncode == 1
    assert "hint:" in done.stderr
    assert hooks.read_text() == "{ // mine"


EARLIER_HOOK = "/usr/bin/python3.11 -I -S '/home/ada/my clone/src/navi/hook.py' {} http://x:1 /t"
EARLIER_CONFIG = """
# >>> navi >>>
[mcp_servers.navi]
command = "/gone/python"
args = ["-m", "navi.cli.navi.main", "mcp"]
[mcp_servers.navi.env]
NAVI_URL = "http://127.0.0.1:8420"
# <<< navi <<<
"""


def write_entries_of_an_earlier_version(home: Path) -> None:
    """With somebody else's hook in the same group."""
    for path, driver in (
        (home / ".claude/settings.json", "claude_code"),
        (home / ".codex/hooks.json", "codex"),
    ):
        settings = json.loads(SETTINGS)
        entry = {"type": "command", "command": EARLIER_HOOK.format(driver), "timeout": 10}
        settings["hooks"]["Stop"][0]["hooks"].append(entry)
        settings["hooks"]["SessionEnd"] = [{"hooks": [entry]}]
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings))
    entry = {"command": "/gone/python", "args": ["-m", "navi.cli.navi.main", "mcp"]}
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {"navi": entry}}))
    (home / ".codex/config.toml").write_text(CONFIG + EARLIER_CONFIG)


def test_entries_of_an_earlier_version_are_removed_from_all_agents(private_home: Path) -> None:
    write_entries_of_an_earlier_version(private_home)
    assert setup("--remove").returncode == 0
    for name in (".claude/settings.json", ".codex/hooks.json"):
        assert json.loads((private_home / name).read_text()) == json.loads(SETTINGS)
    assert json.loads((private_home / ".claude.json").read_text()) == {}
    assert (private_home / ".codex/config.toml").read_text() == CONFIG + "\n"


def test_entries_of_an_earlier_version_are_replaced(private_home: Path) -> None:
    write_entries_of_an_earlier_version(private_home)
    for agent in FILES:
        assert setup(agent).returncode == 0
    for name in (name for names in FILES.values() for name in names):
        text = (private_home / name).read_text()
        assert "/bin/sh" in text
        assert "my clone" not in text
        assert "/gone" not in text


@pytest.mark.parametrize("agent", FILES)
def test_files_that_an_earlier_version_changed_are_restored(private_home: Path, agent: str) -> None:
    before = write_files(private_home, agent)
    setup(agent)
    for file in (private_home / "navi/setup").iterdir():
        [receipt] = json.loads(file.read_text())
        del receipt["added"]
        file.write_text(json.dumps(receipt))
    assert setup(agent, "--remove").returncode == 0
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("agent", FILES)
def test_entries_are_removed_without_a_backup(private_home: Path, agent: str) -> None:
    before = write_files(private_home, agent)
    setup(agent)
    for file in (private_home / "navi/setup").iterdir():
        file.write_text("damaged")
    assert setup(agent, "--remove").returncode == 0
    hooks, servers = before
    assert hooks.read_bytes() == before[hooks]
    assert servers.read_text().rstrip() == before[servers].decode().rstrip()


STOP = '"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]'


@pytest.mark.parametrize(
    ("agent", "changed"),
    [("claude-code", [STOP, '"mcpServers": {"mine": {"command": "x"}}']), ("codex", [STOP])],
)
def test_only_lines_that_get_an_entry_of_navis_are_changed(
    private_home: Path, agent: str, changed: list[str]
) -> None:
    write_files(private_home, agent)
    diff = setup(agent, "--dry-run").stdout.splitlines()
    assert [line[1:].strip() for line in diff if line.startswith("- ")] == changed


def test_a_read_only_file_is_refused_and_the_other_one_is_changed(private_home: Path) -> None:
    hooks, servers = write_files(private_home, "claude-code")
    hooks.chmod(0o444)
    done = setup("claude-code")
    assert done.returncode == 1
    assert f"error: can't write {hooks}: it is read-only\nhint: " in done.stderr
    assert hooks.read_text() == SETTINGS
    assert '"navi"' in servers.read_text()
    assert len(list((private_home / "navi/setup").iterdir())) == 1


def test_only_the_agent_that_is_named_loses_its_entries(private_home: Path) -> None:
    for agent in FILES:
        setup(agent)
    assert setup("codex", "--remove").returncode == 0
    assert all((private_home / name).exists() for name in FILES["claude-code"])
    assert not any((private_home / name).exists() for name in FILES["codex"])


def test_a_hook_of_somebody_else_with_a_similar_name_stays(private_home: Path) -> None:
    hooks, _ = write_files(private_home, "claude-code")
    hooks.write_text(SETTINGS.replace("say done", "python3 /home/ada/navi/hook.py --mine"))
    before = hooks.read_bytes()
    assert setup("--remove").stderr == "nothing to change\n"
    assert hooks.read_bytes() == before


TRUSTED = '\n[hooks.state."hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'


def test_what_codex_wrote_between_the_marks_stays(private_home: Path) -> None:
    """Codex keeps the last comment of the file behind whatever it adds."""
    _, config = write_files(private_home, "codex")
    setup("codex")
    end = "# <<< navi <<<\n"
    config.write_text(config.read_text().removesuffix(end) + TRUSTED + end)

    assert setup("codex").returncode == 0
    assert tomllib.loads(config.read_text())["hooks"]["state"]
    assert setup("codex", "--remove").returncode == 0
    assert tomllib.loads(config.read_text()) == tomllib.loads(CONFIG + "\n" + TRUSTED)


def test_entries_written_over_a_changed_file_are_not_restored_with_it(private_home: Path) -> None:
    hooks, _ = write_files(private_home, "claude-code")
    setup("claude-code")
    hooks.write_text(json.dumps({**json.loads(hooks.read_text()), "theirs": True}))
    assert setup("claude-code", NAVI_URL="http://127.0.0.1:9").returncode == 0
    setup("--remove")
    assert json.loads(hooks.read_text()) == {**json.loads(SETTINGS), "theirs": True}


def test_files_that_were_elsewhere_at_the_setup_are_found(
    private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    setup("codex")
    monkeypatch.delenv("CODEX_HOME")
    assert setup("codex", "--remove").returncode == 0
    assert not (tmp_path / "elsewhere/hooks.json").exists()
    assert not (tmp_path / "elsewhere/config.toml").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".claude/settings.json", "{ // mine"),
        (".claude.json", "[]"),
        (".codex/hooks.json", "\udce9"),
        (".codex/config.toml", "model = "),
        (".codex/config.toml", 'mcp_servers.navi.command = "mine"'),
    ],
)
def test_navi_is_removed_even_if_one_file_cannot_be_changed(
    private_home: Path, name: str, text: str
) -> None:
    for agent in FILES:
        setup(agent)
    broken = private_home / name
    data = text.encode(errors="surrogateescape")
    broken.write_bytes(data)

    done = setup("--remove")

    assert done.returncode == 1
    assert str(broken) in done.stderr
    assert "hint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert broken.read_bytes() == data
    others = {other for names in FILES.values() for other in names} - {name}
    assert not any((private_home / other).exists() for other in others)


@pytest.mark.parametrize(
    "text",
    ['{"hooks": []}', '{"hooks": {"Stop": "mine"}}', '{"mcpServers": 1}', '{"hooks": {"Stop": 1}}'],
)
def test_settings_that_the_agent_would_not_understand_are_left_alone(
    private_home: Path, text: str
) -> None:
    paths = [private_home / name for name in FILES["claude-code"]]
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text(text)
    done = setup("claude-code")
    assert done.returncode == 1
    assert done.stderr.startswith("error: can't change ")
    assert setup("--remove").returncode == 0
    assert [path.read_text() for path in paths] == [text, text]


@pytest.mark.parametrize("text", ['{"hooks": {}, "mcpServers": {}}', '{"hooks": null}', "{}", ""])
def test_settings_without_anything_in_them_are_restored(private_home: Path, text: str) -> None:
    paths = [private_home / name for name in FILES["claude-code"]]
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text(text)
    assert setup("--remove").stderr == "nothing to change\n"
    assert setup("claude-code").returncode == 0
    assert setup("--remove").returncode == 0
    assert [path.read_text() for path in paths] == [text, text]


def test_removing_needs_no_settings_of_navi(private_home: Path) -> None:
    setup("claude-code")
    settings = private_home / ".config/navi/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("broken = ")
    assert setup("claude-code").returncode == 2
    assert setup("--remove").returncode == 0
    assert not (private_home / ".claude/settings.json").exists()


def test_a_setup_without_an_agent_asks_which_one() -> None:
    done = setup()
    assert done.returncode == 2
    assert "hint: `navi setup claude-code` or `navi setup codex`" in done.stderr


def test_a_hook_without_a_server_says_nothing_and_succeeds(tmp_path: Path) -> None:
    python = [os.path.realpath(sys.executable), "-I", "-S"]
    done = subprocess.run(
        [*python, str(HOOK), "claude_code", "http://127.0.0.1:9", str(tmp_path / "none")],
        input=b'{"hook_event_name": "Stop", "session_id": "s"}',
        capture_output=True,
        timeout=30,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_on_a_terminal_the_diff_has_colours(private_home: Path) -> None:
    command = [*NAVI, "setup", "claude-code", "--dry-run"]
    screen = run_in_terminal(command, private_home, os.environ)
    assert "\x1b[1m+++ " in screen
    assert '\x1b[32m+  "hooks": {' in screen
    plain = run_in_terminal(command, private_home, {**os.environ, "NO_COLOR": "1"})
    assert "\x1b[" not in plain


@pytest.mark.parametrize("agent", FILES)
def test_a_server_that_takes_another_port_each_time_is_found_by_its_home(
    private_home: Path, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVI_SERVER_PORT", "0")

    assert setup(agent).returncode == 0

    hooks = json.loads((private_home / FILES[agent][0]).read_text())["hooks"]
    hook = find_hook_command(hooks["Stop"][0]["hooks"][0]["command"])
    assert hook is not None
    assert hook.address == ""
    # Without a server there is no address at all.
    token = Path(hook.token_file)
    token.parent.mkdir(parents=True, exist_ok=True)
    token.write_text("token")
    command = [hook.python, hook.script, "claude_code", hook.address, hook.token_file]
    done = subprocess.run(command, input="{}", capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
