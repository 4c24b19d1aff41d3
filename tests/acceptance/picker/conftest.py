"""A home with sessions of two agents for the picker."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.many_sessions import write_codex
from tests.memory_world import World
from tests.tmux_screen import TmuxScreen

RECALL = [sys.executable, "-m", "navi.cli.recall.main"]
SUMMARY = "Zebra crossing"
STAND_IN = '#!/bin/sh\nprintf "%s: " "$(basename "$0")" "$PWD" "$@" | tee -a "$HOME/resumed"\n'

Picker = Callable[..., TmuxScreen]


@pytest.fixture
def world(private_home: Path) -> World:
    """Three sessions: two of Claude Code in shop and garden, and one of Codex."""
    world = World(private_home)
    for name in ("shop", "garden"):
        (private_home / name).mkdir()
    shop = world.file("6f1c0d52-58b1-4a35-9d2e-0f6f5c3f8a10", "shop")
    shop.count = 100_000
    shop.say("Customers are logged out in the middle of the checkout")
    shop.run("grep -rn refresh_token src/auth", text="Let me look.")
    shop.line("assistant", [{"type": "text", "text": "The refresh token is rotated too often"}])
    shop.say("Then keep the old one for a while")
    garden = world.file("b2a9e0c7-1d44-4f0b-8f64-2f4f0b7a6e55", "garden")
    garden.count = 50_000
    summary = {"type": "summary", "summary": SUMMARY, "leafUuid": "x"}
    garden.raw(json.dumps(summary).encode() + b"\n")
    garden.say("Water the plants\n" + "and the lawn\n" * 30 + "The token of the tap is lost")
    write_codex(world, 9, ["Why did the export stop with a 401?", "Its token had expired"], "shop")
    world.index()
    return world


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder with `recall`, and stand-ins for the agents that say how they were started."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("claude", "codex"):
        program = programs / name
        program.write_text(STAND_IN)
        program.chmod(0o755)
    recall = programs / "recall"
    recall.write_text(f'#!/bin/sh\nexec {shlex.join(RECALL)} "$@"\n')
    recall.chmod(0o755)
    return programs


@pytest.fixture
def picker(world: World, programs: Path) -> Picker:
    """Opens the picker, or runs a script, on a screen."""
    path = os.pathsep.join((str(programs), os.environ["PATH"]))

    def run(
        *words: str, script: str = "", columns: int = 80, lines: int = 24, **variables: str
    ) -> TmuxScreen:
        return TmuxScreen(
            ["sh", "-c", script] if script else [*RECALL, *words],
            columns,
            lines,
            folder=world.home / "shop",
            variables={"PATH": path, **variables},
        )

    return run
