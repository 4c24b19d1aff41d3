"""`navi` without a command: at a terminal, and anywhere else."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from navi.base.served_address import served_address
from navi.cli.navi.main import main
from navi.memory.index_paths import index_paths
from navi.memory.ingest import index_lock
from tests.integration.cli.agent_settings import FILES
from tests.integration.cli.command_runs import run
from tests.paths import CORPUS
from tests.pseudo_terminal import PseudoTerminal
from tests.waiting import PATIENCE_SECONDS, eventually

NAVI = [sys.executable, "-m", "navi"]
READY = re.compile(r"Navi is ready: (http://[^/]+)/login#")
QUESTION = "Connect Claude Code and Codex? [y/N, d shows the diff]:"


@pytest.fixture
def home(private_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with sessions of both agents, and both on the PATH."""
    monkeypatch.delenv("NAVI_MODEL")
    monkeypatch.setenv("NAVI_INDEX_FOLLOW", "false")
    for folder in ("claude/2.1.325", "codex/0.166.0"):
        shutil.copytree(CORPUS / folder, private_home, dirs_exist_ok=True)
    programs = private_home / "bin"
    programs.mkdir()
    for name in ("claude", "codex"):
        program = programs / name
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return private_home


def at_terminal(*arguments: str) -> PseudoTerminal:
    return PseudoTerminal([*NAVI, "--no-open", *arguments], os.environ)


def settings_of(home: Path) -> dict[str, str]:
    files = [home / name for names in FILES.values() for name in names]
    return {file.name: file.read_text() for file in files if file.exists()}


def test_the_sessions_are_found_the_agents_connected_and_the_page_served(home: Path) -> None:
    before = settings_of(home)
    with at_terminal() as terminal:
        screen = terminal.wait_for(QUESTION)
        assert "indexing your agents' sessions for the first time" in screen
        assert re.search(r"found \d+ sessions of Claude Code and Codex", screen)
        for names in FILES.values():
            assert all(re.search(rf"  {home / name}: \d+ new lines", screen) for name in names)
        assert "`navi setup --remove` undoes it" in screen
        assert len(screen.splitlines()) < 20
        terminal.screen = ""
        terminal.type_text("d\n")
        diff = terminal.wait_for(QUESTION)
        assert all(f"+++ {home / name}" in diff for names in FILES.values() for name in names)
        assert settings_of(home) == before
        terminal.type_text("y\n")
        assert "new sessions use Claude Code" in terminal.wait_for("The link works once")
        assert READY.search(terminal.screen)
        assert terminal.interrupt() == 130
    assert all("navi" in text for text in settings_of(home).values())
    assert len(settings_of(home)) == 4

    with at_terminal() as terminal:
        assert "onnect" not in terminal.wait_for("Navi is ready")
    subprocess.run([*NAVI, "setup", "--remove"], check=True, capture_output=True)
    assert settings_of(home) == before


@pytest.fixture
def taken() -> Iterator[str]:
    """A port that another program has, so that no server starts."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield str(listening.getsockname()[1])


def until_it_listens(taken: str, *arguments: str, answers: str = "") -> str:
    """What a person at a terminal reads before the server would start."""
    ours, theirs = os.openpty()
    try:
        os.write(ours, answers.encode())
        with os.fdopen(theirs) as stdin:
            words = ["navi", "--no-open", "--port", taken, *arguments]
            done = run(main, words, stdin=stdin)
    finally:
        os.close(ours)
    assert done.returncode == 2
    assert f"can't listen on 127.0.0.1:{taken}" in done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("answer", ["n", "", "maybe"])
def test_only_a_plain_yes_connects_and_the_question_comes_once(
    home: Path, taken: str, answer: str
) -> None:
    before = settings_of(home)
    for is_first in (True, False):
        screen = until_it_listens(taken, answers=f"{answer}\n")
        assert (QUESTION in screen) is is_first
        assert "`navi setup claude-code` and `navi setup codex`" in screen
    assert settings_of(home) == before


async def test_ctrl_c_ends_the_server_and_the_process_that_indexes_without_a_complaint(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAVI_INDEX_FOLLOW", "true")
    with at_terminal("--no-setup") as terminal:
        ready = terminal.wait_for("The link works once")
        await eventually(lambda: index_lock.is_held(index_paths().follower))
        [follower] = psutil.Process(terminal.process.pid).children()
        assert os.getpgid(follower.pid) != terminal.process.pid  # Ctrl-C does not reach it
        assert terminal.interrupt() == 130
        follower.wait(PATIENCE_SECONDS)
    assert terminal.screen.removeprefix(ready).strip() in ("", "^C")


def test_a_home_that_is_served_already_is_opened(home: Path) -> None:
    with at_terminal("--no-setup") as first:
        served = READY.search(first.wait_for("The link works once"))
        assert served is not None
        assert served_address() == served[1]
        with at_terminal() as second:
            assert second.wait() == 0
        assert f"{served[1]}/login#" in second.screen
        assert "already running" in second.screen
        assert READY.search(second.screen) is None
        assert QUESTION not in second.screen
        assert first.process.poll() is None


def test_options_answer_beforehand(home: Path, taken: str) -> None:
    before = settings_of(home)
    assert "onnect" not in until_it_listens(taken, "--no-setup")
    assert settings_of(home) == before
    assert QUESTION not in until_it_listens(taken, "--yes")
    assert len(settings_of(home)) == 4


def test_an_agent_whose_settings_cannot_be_read_does_not_stop_the_rest(home: Path) -> None:
    (home / ".claude" / "settings.json").write_text("{ // mine")
    with at_terminal() as terminal:
        assert ".claude/settings.json" in terminal.wait_for("Connect Codex? [y/N")
        terminal.type_text("y\n")
        terminal.wait_for("Navi is ready")
    assert (home / ".claude" / "settings.json").read_text() == "{ // mine"
    assert "navi" in (home / ".codex" / "config.toml").read_text()


def test_an_index_that_cannot_be_read_does_not_stop_the_server(home: Path) -> None:
    index = home / ".local" / "share" / "recall"
    index.mkdir(parents=True)
    (index / "recall.duckdb").write_text("garbage")
    with at_terminal("--no-setup") as terminal:
        assert "recall" in terminal.wait_for("Navi is ready")


def test_a_machine_without_agents_is_served_without_a_question(
    private_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NAVI_MODEL")
    monkeypatch.setenv("NAVI_CLAUDE_CODE_COMMAND", "not-installed")
    monkeypatch.setenv("NAVI_CODEX_COMMAND", "not-installed")
    with at_terminal() as terminal:
        screen = terminal.wait_for("Navi is ready")
    assert "found no sessions" in screen
    assert "onnect" not in screen
    assert "no model is set up\nhint: set ANTHROPIC_API_KEY" in screen


def test_without_a_terminal_the_help_is_printed_as_before() -> None:
    done = subprocess.run(NAVI, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: navi")


def test_an_agent_at_a_terminal_gets_the_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAVI_SESSION_ID", "s1")
    with PseudoTerminal(NAVI, os.environ) as terminal:
        assert terminal.wait() == 2
    assert terminal.screen.startswith("Usage: navi")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "1", "doctor"], "are for `navi` alone"),
        (["--yes", "--no-setup"], "contradict"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], message: str) -> None:
    done = subprocess.run([*NAVI, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert message in done.stderr
    assert "hint: " in done.stderr
