"""`recall doctor` names what the index lacks."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from navi.cli.recall.commands.doctor import command
from tests.memory_world import World
from tests.rights import rights_that_files_give


@pytest.fixture
def world(private_home: Path) -> World:
    return World(private_home)


def findings(name: str) -> list[dict[str, Any]]:
    everything = json.loads(CliRunner().invoke(command, ["--json"]).stdout)
    return [each for each in everything if each["name"] == name]


def details(name: str) -> list[str]:
    return [each["detail"] for each in findings(name)]


def test_an_index_without_damage_is_ok(world: World) -> None:
    world.file().say("pear")
    world.index()
    (index,) = findings("index")
    assert (index["status"], "1 session" in index["detail"]) == ("ok", True)
    assert not any(map(details, ("failed", "damaged", "half line", "unknown")))


def test_damaged_lines_half_lines_and_failed_files_are_named(world: World) -> None:
    damaged = world.file("damaged").say("pear").raw(b"{broken\n").say("plum")
    binary = world.file("binary").raw(b"\xff\xfe\n" * 3)
    fresh = world.file("fresh").say("pear").raw(b'{"type":"us')
    left = world.file("left").say("pear").raw(b'{"type":"us')
    both = world.file("zboth").say("pear").raw(b'{broken\n{"type":"us')
    for file in (left, both):
        os.utime(file.path, (1_000_000_000, 1_000_000_000))
    world.index()
    assert findings("index")[0]["status"] == "note"
    assert details("failed") == [f"{binary.path}: not a transcript: none of its lines can be read"]
    assert details("damaged") == [
        f"{damaged.path}: left out 1 line (2) that could not be read",
        f"{both.path}: left out 1 line (2) that could not be read",
        f"{left.path}: its last line is cut off and was left out",
        f"{both.path}: its last line is cut off and was left out",
    ]
    assert details("half line") == [f"{fresh.path}: its last line is still being written"]


def test_unknown_kinds_of_lines_are_counted_by_source(world: World) -> None:
    world.file("one").say("pear").raw(b'{"type":"novelty"}\n{"type":"novelty"}\n')
    world.file("two").say("plum").raw(b'{"type":"novelty"}\n{"type":"oddity"}\n')
    world.index()
    assert details("unknown") == [
        "claude-code: 3 lines of unknown kind 'novelty' in 2 files, left out",
        "claude-code: 1 line of unknown kind 'oddity' in 1 file, left out",
    ]


def test_places_that_may_not_be_read_are_named(world: World) -> None:
    folder = world.file("closed", "garden").say("plum").path.parent
    file = world.file("file", "shop").say("pear").path
    folder.chmod(0)
    file.chmod(0)
    try:
        with rights_that_files_give():
            problems = [each for each in findings("claude-code") if each["status"] == "problem"]
    finally:
        folder.chmod(0o700)
        file.chmod(0o600)
    assert [each["detail"].split(":")[0] for each in problems] == [str(folder), str(file)]
