"""`recall` on a real index in a private home."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from navi.cli.recall.main import main
from tests.integration.cli.recall_runs import Answer, Recall
from tests.memory_world import World


@pytest.fixture
def world(private_home: Path) -> World:
    return World(private_home)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's time zone, for the commands that run in this process."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def recall(monkeypatch, capsys) -> Recall:
    def run(*arguments: str) -> Answer:
        monkeypatch.setattr(sys, "argv", ["recall", *arguments])
        code: object = 0
        try:
            main()
        except SystemExit as ended:
            code = ended.code
        captured = capsys.readouterr()
        return Answer(code if isinstance(code, int) else 1, captured.out, captured.err)

    return run


@pytest.fixture
def full(world: World, recall: Recall) -> World:
    """Two sessions in two projects, indexed."""
    shop = world.file("shop-session", "shop").say("Help me fix the auth bug")
    shop.run("git status", text="I'll investigate the authentication").think("look at handler.ts")
    shop.line(
        "assistant",
        [{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "src/a.ts"}}],
    )
    world.file("garden-session", "garden").say("water the plants")
    assert recall("index").code == 0
    return world
