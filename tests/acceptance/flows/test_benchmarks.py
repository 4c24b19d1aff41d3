"""Every benchmark runs in its smallest size. Speed is not checked."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.clock.peers import peers_python
from benchmarks.memory.peers import peers
from tests.paths import ROOT

pytestmark = [pytest.mark.proof, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def clock_peers() -> None:
    """Installed once per module, before a test's private home hides the settings of pip and npm."""
    peers_python()


@pytest.fixture(scope="module")
def memory_peers() -> None:
    peers()


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_turns_and_streams_are_measured(store: str) -> None:
    printed = run("turns", "--quick", "--store", store)
    assert_figures(
        printed,
        "start-up",
        "memory",
        "turn overhead",
        "turns, 20 sessions at once",
        "admissions, 20 clients",
        "delta latency, 100 sockets",
        "fan-out",
        "idle sockets",
    )
    assert "DELTAS MISSING" not in printed


@pytest.mark.usefixtures("clock_peers")
def test_the_clock_is_measured_beside_its_peers() -> None:
    printed = run("clock", "--smallest")
    assert_figures(
        printed,
        "Navi           sqlite",
        "APScheduler    sqlite",
        "Navi           postgresql",
        "PgQueuer       postgresql",
        "APScheduler    postgresql",
        "Procrastinate  postgresql",
    )
    assert "DOUBLED" not in printed
    assert "not measured" not in printed


@pytest.mark.usefixtures("memory_peers")
def test_the_memory_is_measured_beside_its_peers() -> None:
    assert_figures(
        run("memory", "--size", "5"),
        "full index",
        "nothing changed",
        "search, warm",
        "recall list, new process",
        "a session grew",
        "ccusage",
        "fast-resume",
        "claude-code-log",
    )


def test_the_search_is_measured_beside_the_released_one() -> None:
    assert_figures(
        run("relevance", "--around", "1"),
        *("paraphrase", "keywords", "exact", "file", "output"),
    )


def test_sm_is_measured_with_real_agents_too() -> None:
    assert_figures(
        run("sm", "--quick", "--store", "both", "--sessions", "5", "--agents"),
        "`sm status`",
        "message to an idle session",
        "urgent message to a busy one",
        "20 waiting messages",
        "live sessions, idle",
        "claude_code: message",
        "codex: message",
        "tmux claude_code: message",
        "tmux codex: message",
    )


def test_questions_are_measured() -> None:
    printed = run("questions", "--quick")
    assert_figures(printed, "until it is in the inbox", "until the agent has it")


def test_the_page_is_measured() -> None:
    assert_figures(run("page"), "until one can type", "until it is drawn")


def test_the_picker_is_measured() -> None:
    assert_figures(
        run("picker", "--sessions", "300"), "first paint", "a letter, until", "a page key"
    )


@pytest.mark.parametrize(
    "command",
    [
        "chaos --kills 3 --sessions 4 --store both",
        "chaos all --kills 2 --sessions 3 --messages 10 --store both",
        "fuzz --requests 300 --store both",
    ],
)
def test_a_storm_ends_with_a_verdict(command: str) -> None:
    assert run(*command.split()).endswith("verdict: the promise was kept\n")


def run(benchmark: str, *options: str) -> str:
    """What the command prints."""
    command = [sys.executable, "-m", f"benchmarks.{benchmark}", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def assert_figures(printed: str, *names: str) -> None:
    """There are rows with each of the names, with numbers behind their first column."""
    for name in names:
        rows = [row for row in printed.splitlines() if name in row]
        assert rows, f"there is no row {name!r} in\n{printed}"
        for row in rows:
            figures = row.strip().partition("  ")[2]
            assert any(letter.isdigit() for letter in figures), row
            assert "nan" not in figures.split(), row
