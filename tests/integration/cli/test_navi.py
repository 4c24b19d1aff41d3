"""`navi`: its usage, its users, its settings and its doctor."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import sysconfig
from datetime import UTC, datetime
from pathlib import Path

import pytest

from navi import __version__
from navi.live.store.damage import set_aside
from navi.live.store.engine import schema
from navi.live.store.engine.connection import open_engine
from navi.live.store.engine.dialects.sqlite import sqlite_url
from tests.integration.cli.command_runs import navi
from tests.integration.stand_in_servers import answering, sending, stranger
from tests.loopback import OWN_HOST, needs_own_host
from tests.server import NAVI

__all__ = ["stranger"]

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


def test_help_lists_the_commands_without_importing_what_they_need() -> None:
    script = (
        "import sys; sys.argv = ['navi', '--help']\n"
        "from navi.cli.navi.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'sqlalchemy', 'pydantic', 'starlette', 'uvicorn', 'pydantic_ai', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == "[]"
    assert all(any(name in line for line in lines) for name in ("serve", "doctor", "user"))


def test_version_is_the_packages_version() -> None:
    done = subprocess.run([*NAVI, "--version"], capture_output=True, text=True, check=True)
    assert __version__ in done.stdout


@pytest.mark.parametrize(
    "arguments", [["dance"], ["serve", "--port", "many"], ["user", "add"], ["completions", "csh"]]
)
def test_wrong_usage_is_exit_code_2_with_a_hint(arguments: list[str]) -> None:
    finished = navi(*arguments)
    assert finished.returncode == 2
    assert finished.stdout == ""
    error, hint = finished.stderr.splitlines()[:2]
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")


@pytest.mark.parametrize(
    ("environment", "key"),
    [
        ({"NAVI_SERVER_PORT": "many"}, "server.port"),
        ({"NAVI_TURNS_MAX_CONCURRENT": "0"}, "turns.max_concurrent"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(environment: dict[str, str], key: str) -> None:
    finished = navi("serve", "--no-open", **environment)
    assert finished.returncode == 2
    assert key in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.mark.parametrize("text", ["port = ", "[server]\nprot = 1", "[sever]\nport = 1", "\x00"])
def test_a_settings_file_with_a_mistake_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    finished = navi("serve", "--no-open", NAVI_CONFIG=str(path))
    assert finished.returncode == 2
    assert finished.stderr.startswith("error: ")
    assert str(path) in finished.stderr


def test_a_settings_file_that_is_named_but_missing_is_refused(tmp_path: Path) -> None:
    finished = navi("serve", "--no-open", NAVI_CONFIG=str(tmp_path / "missing.toml"))
    assert finished.returncode == 2
    assert "missing.toml" in finished.stderr


def test_an_address_of_another_machine_is_refused_without_a_wrong_guess() -> None:
    finished = navi("serve", "--no-open", "--host", "192.0.2.1", "--port", "0")
    assert finished.returncode == 2
    assert "address of this machine" in finished.stderr


@pytest.mark.parametrize(
    ("host", "warns"), [("192.0.2.1", True), ("127.0.0.1", False), ("localhost", False)]
)
def test_a_server_that_others_can_reach_warns_that_it_does_not_encrypt(
    host: str, warns: bool
) -> None:
    # The warning comes before the server listens, so none of these needs to succeed.
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        finished = navi("serve", "--no-open", "--host", host, "--port", port)
    assert finished.returncode == 2
    assert ("anyone on the network" in finished.stderr) is warns
    assert ("SSH tunnel" in finished.stderr) is warns


def test_users_are_added_listed_and_removed_without_a_server() -> None:
    added = navi("user", "add", "ada", "--role", "admin")
    assert added.returncode == 0
    assert len(added.stdout.strip()) > 30

    listed = json.loads(navi("user", "list", "--json").stdout)
    assert [(user["id"], user["role"]) for user in listed] == [
        ("local", "admin"),
        ("ada", "admin"),
    ]
    assert added.stdout.strip() not in json.dumps(listed)
    assert "ada" in navi("user", "list").stdout

    unconfirmed = navi("user", "remove", "ada")
    assert (unconfirmed.returncode, "hint: pass --yes" in unconfirmed.stderr) == (2, True)
    removed = navi("user", "remove", "ada", "--yes")
    assert removed.returncode == 0
    assert "ada has 0 sessions. They have nothing running or scheduled." in removed.stderr
    refused = navi("user", "remove", "ada", "--yes")
    assert (refused.returncode, refused.stderr.startswith("error: ")) == (1, True)


@pytest.mark.parametrize("name", ["local", "Ada", "a b", "", "../x"])
def test_a_name_that_cannot_be_used_is_refused(name: str) -> None:
    refused = navi("user", "add", name)
    assert refused.returncode == 1
    assert "hint: " in refused.stderr


def test_the_doctor_finds_nothing_wrong_with_a_fresh_installation() -> None:
    finished = navi("doctor", "--json", NAVI_SERVER_PORT="1")
    findings = {finding["name"]: finding for finding in json.loads(finished.stdout)}
    assert finished.returncode == 0
    assert findings["store"]["status"] == "ok"
    assert findings["server"]["hint"] == "start it with `navi serve`"
    assert {"versions", "settings", "home", "index", "claude", "codex", "tmux"} <= set(findings)


def test_the_doctor_does_not_take_silence_for_another_program() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = str(silent.getsockname()[1])
        finished = navi("doctor", "--json", NAVI_SERVER_PORT=port)
    [server] = [each for each in json.loads(finished.stdout) if each["name"] == "server"]
    assert server["status"] == "problem"
    assert server["detail"].startswith(f"no answer from 127.0.0.1:{port}")


def test_the_doctor_says_that_another_program_has_the_port_of_the_settings(stranger: str) -> None:
    port = stranger.rpartition(":")[2]
    row = finding("server", NAVI_SERVER_PORT=port)
    assert row["status"] == "problem"
    assert row["detail"] == f"another program answers on 127.0.0.1:{port}"
    assert row["hint"] == f"use another port: `navi serve --port {int(port) + 1}`"


@needs_own_host
def test_another_program_on_the_usual_port_is_not_a_problem() -> None:
    with sending(b"HTTP/1.1 200 OK\r\n\r\n<html>", OWN_HOST, 8420):
        rows = json.loads(navi("doctor", "--json", NAVI_SERVER_HOST=OWN_HOST).stdout)
    [row] = [each for each in rows if each["name"] == "server"]
    assert row["status"] == "note"
    assert row["detail"] == f"not running; another program answers on {OWN_HOST}:8420"
    assert row["hint"] == "start it with `navi serve`, which takes the next free port"


def test_the_doctor_notices_a_server_of_another_version() -> None:
    with answering(b'{"status": "ok", "version": "0.0.1"}') as address:
        row = finding("server", NAVI_URL=address)
    assert row["status"] == "note"
    assert row["detail"] == f"navi 0.0.1 on {address[7:]}, but this is {__version__}"
    assert row["hint"].startswith("restart the server")


def test_the_doctor_names_other_programs_that_are_called_like_ours(tmp_path: Path) -> None:
    own = sysconfig.get_path("scripts")
    cheat_sheets = tmp_path / "navi"
    cheat_sheets.write_text("#!/bin/sh\n")
    cheat_sheets.chmod(0o755)
    hidden = finding("commands", PATH=f"{tmp_path}:{own}:/usr/bin:/bin")
    assert hidden["status"] == "note"
    assert hidden["detail"] == f"{cheat_sheets}: first on the PATH, but not part of this Navi"
    assert own in hidden["hint"]
    assert finding("commands", PATH=f"{own}:{tmp_path}")["status"] == "ok"

    links = tmp_path / "links"
    links.mkdir()
    for name in ("navi", "heynavi", "sm"):
        (links / name).symlink_to(f"{own}/{name}")
    missing = finding("commands", PATH=f"{links}:{tmp_path}")
    assert missing["detail"] == "recall: not on the PATH"


def test_the_doctor_says_plainly_that_no_model_is_set_up(tmp_path: Path) -> None:
    nothing = {"NAVI_MODEL": "", "NAVI_CODEX_COMMAND": "not-installed"}
    row = finding("model", NAVI_CLAUDE_CODE_COMMAND="not-installed", **nothing)
    assert (row["status"], row["detail"]) == ("note", "no model is set up")
    assert "ANTHROPIC_API_KEY" in row["hint"]
    assert "install Claude Code or Codex" in row["hint"]
    row = finding("model", NAVI_CLAUDE_CODE_COMMAND=sys.executable, **nothing)
    assert row["detail"] == "none is set up; new sessions use Claude Code"
    assert "demo" in finding("model", NAVI_MODEL="scripted")["detail"]


AGENTS = {
    "claude-code": ("claude setup", ".claude/settings.json", ".claude.json"),
    "codex": ("codex setup", ".codex/hooks.json", ".codex/config.toml"),
}


def finding(name: str, **environment: str) -> dict[str, str]:
    output = navi("doctor", "--json", **{"NAVI_SERVER_PORT": "1", **environment}).stdout
    [match] = [each for each in json.loads(output) if each["name"] == name]
    return dict(match)


@pytest.mark.parametrize("agent", AGENTS)
def test_the_doctor_offers_to_connect_only_agents_that_are_installed(agent: str) -> None:
    name, *_ = AGENTS[agent]
    variable = f"NAVI_{agent.upper().replace('-', '_')}_COMMAND"
    missing = finding(name, **{variable: "not-installed"})
    assert (missing["status"], missing["hint"]) == ("ok", "")
    assert "is not installed" in missing["detail"]
    installed = finding(name, **{variable: sys.executable})
    assert (installed["status"], installed["detail"]) == ("note", "none")
    assert f"`navi setup {agent}`" in installed["hint"]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_doctor_says_where_an_agents_hooks_and_tools_lead(
    private_home: Path, agent: str
) -> None:
    name, hooks, servers = AGENTS[agent]
    repair = f"repair it with `navi setup {agent}`"
    assert finding(name)["detail"].startswith("none")
    navi("setup", agent, NAVI_SERVER_PORT="1")
    assert finding(name)["status"] == "ok"

    elsewhere = finding(name, NAVI_URL="http://127.0.0.1:9")
    assert elsewhere["status"] == "note"
    assert elsewhere["detail"] == "points to another Navi: http://127.0.0.1:1"
    assert elsewhere["hint"] == repair

    for file in (private_home / hooks, private_home / servers):
        file.write_text(file.read_text().replace(sys.prefix, "/gone").replace("/src/", "/gone/"))
    gone = finding(name)
    assert gone["status"] == "problem"
    assert "navi/hook.py is gone" in gone["detail"]
    assert "/gone/bin/python is gone" in gone["detail"]
    assert gone["hint"] == repair
    navi("setup", agent, NAVI_SERVER_PORT="1")
    assert finding(name)["status"] == "ok"

    (private_home / servers).unlink()
    assert finding(name)["detail"] == "Navi's tools are missing"


def test_the_doctor_warns_of_hooks_that_would_block_claude_code(private_home: Path) -> None:
    navi("setup", "claude-code", NAVI_SERVER_PORT="1")
    settings = private_home / ".claude/settings.json"
    guarded = json.loads(settings.read_text())
    for [group] in guarded["hooks"].values():
        [entry] = group["hooks"]
        entry["command"] = entry["command"].partition(" navi-hook ")[2]
    settings.write_text(json.dumps(guarded))
    assert "they block Claude Code once Navi is removed" in finding("claude setup")["detail"]


def test_the_doctor_reports_settings_of_an_agent_that_cannot_be_read(private_home: Path) -> None:
    (private_home / ".claude.json").write_text("{ // mine")
    problem = finding("claude setup")
    assert problem["status"] == "problem"
    assert ".claude.json" in problem["detail"]


def test_the_doctor_says_how_fresh_the_index_is(private_home: Path) -> None:
    assert finding("index")["hint"] == "create it with `recall index`"
    transcript = private_home / ".claude/projects/-work/5f0e8c0a-0000-4000-8000-000000000001.jsonl"
    transcript.parent.mkdir(parents=True)
    line = {"type": "user", "message": {"role": "user", "content": "hello"}, "uuid": "1"}
    transcript.write_text(json.dumps(line) + "\n")
    subprocess.run([sys.executable, "-m", "navi.cli.recall.main", "index"], check=True)
    assert finding("index")["detail"] == "up to date"
    with transcript.open("a") as file:
        file.write(json.dumps({**line, "uuid": "2"}) + "\n")
    assert finding("index")["detail"].endswith("; files have changed since")


@pytest.mark.parametrize(
    ("environment", "line"),
    [
        ({"TZ": "Europe/Paris"}, "ok       time zone    Europe/Paris"),
        ({"TZ": ":/usr/share/zoneinfo/Europe/Paris"}, "ok       time zone    Europe/Paris"),
        ({"TZ": "CET-1CEST"}, "note     time zone    CET; TZ=CET-1CEST is not an IANA zone name"),
        (
            {"TZ": "CET-1CEST", "NAVI_RECALLS_TIMEZONE": "Europe/Paris"},
            "ok       time zone    Europe/Paris",
        ),
    ],
)
def test_the_doctor_says_in_which_zone_times_are_read(
    environment: dict[str, str], line: str
) -> None:
    assert f"\n{line}" in navi("doctor", NAVI_SERVER_PORT="1", **environment).stdout


def test_the_doctor_says_what_to_do_about_a_broken_home(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    finished = navi("doctor", NAVI_HOME=str(blocked / "navi"))
    assert finished.returncode == 1
    assert "problem" in finished.stdout
    assert "NAVI_HOME" in finished.stdout


def test_the_doctor_describes_a_mistake_in_the_settings_once(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("x = [")
    finished = navi("doctor", NAVI_CONFIG=str(settings), NAVI_SERVER_PORT="1")
    assert finished.returncode == 1
    assert finished.stdout.count(f"can't read {settings}") == 1
    assert "not checked: see settings" in finished.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_completions(shell: str) -> None:
    finished = navi("completions", shell)
    assert finished.returncode == 0
    assert "_NAVI_COMPLETE" in finished.stdout


def test_completion_offers_the_commands() -> None:
    finished = navi(_NAVI_COMPLETE="bash_complete", COMP_WORDS="navi s", COMP_CWORD="1")
    assert "serve" in finished.stdout


def test_the_doctor_shows_what_was_set_aside(tmp_path: Path) -> None:
    home = tmp_path / "navi"
    home.mkdir()
    url = sqlite_url(home / "navi.sqlite3")
    schema.prepare(url)
    engine = open_engine(url)
    with engine.begin() as connection:
        reference = set_aside.Reference("broken-one", None)
        set_aside.record(connection, "recall", reference, "ValueError: no such time", NOON)
    engine.dispose()

    finished = navi("doctor", NAVI_HOME=str(home))

    assert finished.returncode == 1
    assert "recall broken-one: ValueError: no such time" in finished.stdout
