"""Other users can't read what Navi keeps; files that agents create follow the person's umask."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory_world import World
from tests.server import ServerProcess
from tests.waiting import eventually

PRINT_UMASK = """
import os, sys
from navi.cli.{name}.main import main
sys.argv = ["{name}", "--version"]
try:
    main()
finally:
    print(f"{{os.umask(0):03o}}")
"""
INTO_THE_WORKSPACE = """
[[bash: umask 2>&1; touch by-terminal]]
[[tool: filesystem | {"action": "write", "path": "by-tool", "content": "x"}]]
[[say: done]]
"""


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """A umask under which careless programs create files everybody can read."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def open_home(private_home: Path) -> Path:
    """A folder that everybody can read, as `mkdir` makes it."""
    (private_home / "navi").mkdir()
    return private_home


def run(command: str, *arguments: str) -> str:
    line = [sys.executable, "-m", f"navi.cli.{command}.main", *arguments]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if mode(path) & 0o077]


@pytest.mark.parametrize("name", ["navi", "recall", "sm"])
def test_every_command_makes_private_files(name: str) -> None:
    command = [sys.executable, "-c", PRINT_UMASK.format(name=name)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert printed.splitlines()[-1] == "077"


async def test_a_server_in_an_open_folder_keeps_its_files_closed(open_home: Path) -> None:
    with ServerProcess(open_home, settings={"NAVI_MODEL": "scripted"}) as server:
        async with server.client() as client:
            session = await client.session()
            await client.say(session, INTO_THE_WORKSPACE)

            async def is_done() -> bool:
                return any(each["content"] == "done" for each in await client.messages(session))

            await eventually(is_done, what="the end of the turn")
        home = open_home / "navi"
        assert open_to_others(home) == []
        assert set(os.listdir(home)) >= {"navi.sqlite3", "token"}
        made = [home / "workspace" / name for name in ("by-terminal", "by-tool")]
        assert [mode(path) for path in made] == [0o644, 0o644]


@pytest.mark.proof
def test_files_that_an_earlier_version_left_open_are_closed(
    open_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, elsewhere = open_home / "navi", open_home / "elsewhere"
    elsewhere.mkdir()
    (home / "runs").mkdir()
    for store in (home / "navi.sqlite3", elsewhere / "store"):
        monkeypatch.setenv("NAVI_DATABASE_URL", f"sqlite:///{store}")
        run("navi", "user", "add", "ada")
        store.chmod(0o644)
        run("navi", "user", "list")
        assert open_to_others(store.parent) == []


def test_an_index_in_an_open_folder_is_closed(open_home: Path) -> None:
    World(open_home).file().say("pear")
    folder = open_home / ".local" / "share" / "recall"
    folder.mkdir(parents=True)
    run("recall", "index")
    assert {path.name for path in folder.iterdir()} >= {"recall.duckdb", "recall.texts"}
    assert open_to_others(folder) == []

    for path in folder.iterdir():
        path.chmod(0o755 if path.is_dir() else 0o644)
    (folder / "notes").touch()
    run("recall", "index", "--full")
    assert open_to_others(folder) == ["notes"]


def test_an_exported_session_is_private(open_home: Path) -> None:
    World(open_home).file("fruit").say("pear")
    run("recall", "index")
    target = open_home / "fruit.md"
    run("recall", "export", "fruit", "-o", str(target))
    assert "pear" in target.read_text()
    assert mode(target) == 0o600


@pytest.mark.proof
@pytest.mark.parametrize(
    ("folder_mode", "status", "detail"),
    [
        (0o700, "ok", ""),
        (0o755, "note", "other users can list it, but not read Navi's files"),
        (0o777, "problem", "every user can replace files in it"),
    ],
)
def test_the_doctors_say_who_can_get_at_the_files(
    open_home: Path, folder_mode: int, status: str, detail: str
) -> None:
    (open_home / "navi").chmod(folder_mode)
    home = finding("navi", "home")
    assert home["status"] == status
    assert detail in home["detail"]

    World(open_home).file().say("pear")
    run("recall", "index")
    (open_home / ".local" / "share" / "recall").chmod(folder_mode)
    index = finding("recall", "access")
    assert index["status"] == status
    assert detail in index["detail"]


def test_the_doctor_names_an_index_that_is_open(open_home: Path) -> None:
    World(open_home).file().say("pear")
    run("recall", "index")
    database = open_home / ".local" / "share" / "recall" / "recall.duckdb"
    database.chmod(0o640)
    index = finding("recall", "access")
    assert index["status"] == "problem"
    assert f"other users can open {database}" in index["detail"]
    assert index["hint"] == f"chmod go= {database}"


def finding(command: str, name: str) -> dict[str, str]:
    line = [sys.executable, "-m", f"navi.cli.{command}.main", "doctor", "--json"]
    printed = subprocess.run(line, check=False, capture_output=True, text=True).stdout
    [match] = [each for each in json.loads(printed) if each["name"] == name]
    return dict(match)
