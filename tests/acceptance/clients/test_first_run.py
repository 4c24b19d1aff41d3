"""The first run on a machine with sessions of Claude Code and Codex, from `navi` to an answer.

`pytest -s` prints how long each step took. Nothing is asserted about that: the machine may be busy.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time

import pytest

from tests.acceptance.clients.conftest import World
from tests.paths import CORPUS
from tests.pseudo_terminal import PseudoTerminal

pytestmark = pytest.mark.proof
COMMAND = [sys.executable, "-m"]


def test_from_the_command_to_a_past_session_and_an_answer(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for agent in ("claude", "codex"):
        for version in (CORPUS / agent).iterdir():
            shutil.copytree(version, world.home, dirs_exist_ok=True)
    environment = {**os.environ, **world.environment, "HOME": str(world.home)}
    for name in ("NAVI_MODEL", "NAVI_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        environment.pop(name)

    def run(module: str, *arguments: str) -> str:
        done = subprocess.run(
            [*COMMAND, f"navi.cli.{module}.main", *arguments],
            env=environment,
            cwd=world.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    began = time.monotonic()
    steps: list[str] = []

    def note(step: str) -> None:
        steps.append(f"{time.monotonic() - began:6.1f} s  {step}")

    with PseudoTerminal([*COMMAND, "navi", "--no-open"], environment) as terminal:
        screen = terminal.wait_for("Connect Claude Code and Codex? [y/N")
        counted = re.search(r"found \d+ sessions of Claude Code and Codex", screen)
        assert counted is not None
        note(counted[0])
        assert "number 42" in run("recall", "search", "remember number 42")
        note("a past session is in `recall search`")
        terminal.type_text("y\n")
        terminal.wait_for("Navi is ready: ")
        note("the server is ready, the agents are connected")
        message = "[[say: nice to meet you]]"
        answer = run("sm", "spawn", "--driver", "claude_code", "--wait", "5m", message)
        assert "nice to meet you" in answer
        note("the first message is answered by Claude Code")
        assert terminal.interrupt() == 130
    with capsys.disabled():
        sys.stderr.write("\n" + "\n".join(steps) + "\n")
