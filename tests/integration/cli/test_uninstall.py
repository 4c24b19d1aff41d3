"""`navi uninstall`: what it shows, what it removes, and what it leaves alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from navi.cli.navi.installation import removal_command
from navi.cli.navi.main import main
from tests.integration.cli.agent_settings import FILES, setup, write_files
from tests.integration.cli.command_runs import Finished, navi, run
from tests.paths import ROOT
from tests.server import ServerProcess

NO_SERVER = "http://127.0.0.1:9"


def uninstall(*arguments: str, **environment: str) -> Finished:
    return navi("uninstall", *arguments, **{"NAVI_URL": NO_SERVER, **environment})


def uninstall_in_a_terminal(answers: str, *arguments: str) -> Finished:
    ours, theirs = os.openpty()
    try:
        os.write(ours, answers.encode())
        with os.fdopen(theirs) as stdin:
            return run(main, ["navi", "uninstall", *arguments], stdin=stdin)
    finally:
        os.close(ours)


@pytest.fixture
def before(private_home: Path) -> dict[Path, bytes]:
    """The settings of all agents, as they were before `navi setup`."""
    before: dict[Path, bytes] = {}
    for agent in FILES:
        before |= write_files(private_home, agent)
        assert setup(agent).returncode == 0
    return before


@pytest.fixture
def data(private_home: Path) -> list[Path]:
    """What Navi keeps."""
    names = [
        "navi/navi.sqlite3",
        "navi/token",
        "navi/workspace/notes.md",
        ".local/share/recall/recall.duckdb",
        ".local/share/recall/recall.texts/meta.json",
        ".config/navi/config.toml",
    ]
    paths = [private_home / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("" if path.suffix == ".toml" else "x" * 1000)
    return paths


def contents(paths: dict[Path, bytes]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in paths}


def test_the_settings_of_all_agents_are_restored_and_the_data_stays(
    before: dict[Path, bytes], data: list[Path], private_home: Path
) -> None:
    done = uninstall("--yes")
    assert (done.returncode, done.stderr) == (0, "to remove the program itself:\n")
    assert contents(before) == before
    assert all(str(path) in done.stdout for path in before)
    assert all(path.exists() for path in data)
    assert not (private_home / "navi/setup").exists()
    [line] = [line for line in done.stdout.splitlines() if "  sessions, " in line]
    assert line.split()[:3] == [str(private_home / "navi"), "3.0", "KB"]
    assert done.stdout.splitlines()[-1] == removal_command(Path(sys.prefix))


def test_without_a_terminal_nothing_is_removed_unless_it_is_confirmed(
    before: dict[Path, bytes],
) -> None:
    installed = contents(before)
    done = uninstall()
    assert done.returncode == 2
    assert "hint: pass --yes" in done.stderr
    assert contents(before) == installed


def test_somebody_who_says_no_keeps_everything(before: dict[Path, bytes]) -> None:
    installed = contents(before)
    done = uninstall_in_a_terminal("n\n")
    assert done.returncode == 1
    assert "nothing was removed" in done.stderr
    assert contents(before) == installed


def test_somebody_who_says_yes_to_the_settings_is_asked_again_about_the_data(
    before: dict[Path, bytes], data: list[Path]
) -> None:
    installed = contents(before)
    done = uninstall_in_a_terminal("y\nn\n", "--data")
    assert done.returncode == 1
    assert "Delete 5.0 KB of data for good?" in done.stderr
    assert contents(before) == installed
    assert all(path.exists() for path in data)
    assert uninstall_in_a_terminal("y\ny\n", "--data").returncode == 0
    assert contents(before) == before
    assert not any(path.exists() for path in data)


def test_a_dry_run_shows_the_differences_and_removes_nothing(
    before: dict[Path, bytes], data: list[Path]
) -> None:
    installed = contents(before)
    done = uninstall("--dry-run", "--data")
    assert done.returncode == 0
    assert "-# >>> navi >>>" in done.stdout
    assert contents(before) == installed
    assert all(path.exists() for path in data)


def test_data_that_is_not_navis_stays(data: list[Path], private_home: Path) -> None:
    foreign = [path.with_name("mine.txt") for path in data if path.parent.name != "workspace"]
    for path in foreign:
        path.write_text("mine")
    assert uninstall("--yes", "--data").returncode == 0
    assert all(path.exists() for path in foreign if path.parent.name != "recall.texts")
    assert not any(path.exists() for path in data)


def test_nothing_that_navi_made_in_its_home_is_left(private_home: Path) -> None:
    home = private_home / "navi"
    (home / "runs").mkdir(parents=True)
    names = ["navi.sqlite3", "navi.sqlite3-wal", "navi.sqlite3-bell", "open-page.html", "runs/x"]
    for name in names:
        (home / name).touch()
    assert uninstall("--yes", "--data").returncode == 0
    assert not home.exists()


def test_a_broken_settings_file_is_reported_and_the_others_are_restored(
    before: dict[Path, bytes], private_home: Path
) -> None:
    broken = private_home / ".claude/settings.json"
    broken.write_text("{ // mine")
    done = uninstall("--yes")
    assert done.returncode == 1
    assert f"error: can't change {broken}: it is not JSON" in done.stderr
    others = {path: text for path, text in before.items() if path != broken}
    assert contents(others) == others


def test_where_nothing_was_set_up_only_the_program_is_left_to_remove() -> None:
    done = uninstall()
    assert done.returncode == 0
    first, last = done.stdout.splitlines()
    assert first == "No agent is connected to Navi."
    assert last == removal_command(Path(sys.prefix))


def test_a_running_server_is_named_and_its_data_is_not_deleted(private_home: Path) -> None:
    with ServerProcess(private_home) as server:
        done = uninstall("--yes", NAVI_URL=server.address)
        assert done.returncode == 0
        assert f"a server is running at {server.address}" in done.stderr

        done = uninstall("--yes", "--data", NAVI_URL=server.address)
        assert done.returncode == 1
        assert f"in use by process {server.process.pid}\n" in done.stderr
        assert server.process.poll() is None
        server.stop()
    assert uninstall("--yes", "--data").returncode == 0
    assert not (private_home / "navi").exists()


def test_rules_for_claude_code_that_would_stay_are_named_before_anything_is_asked(
    before: dict[Path, bytes], private_home: Path
) -> None:
    note = private_home / ".local/share/recall/permissions.json"
    note.parent.mkdir(parents=True)
    note.write_text("{}")
    done = uninstall()
    assert done.returncode == 2
    assert "run `recall stats bash --undo` first" in done.stderr


def test_a_database_on_another_server_is_left_alone_and_its_password_not_shown() -> None:
    url = "postgresql://ada:hunter2@db.example/navi"
    done = uninstall("--yes", "--data", NAVI_DATABASE_URL=url)
    assert done.returncode == 0
    assert "the database in NAVI_DATABASE_URL is not touched" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("folder", "file", "command"),
    [
        ("venvs/heynavi", "pipx_metadata.json", "pipx uninstall heynavi"),
        ("venvs/navi", "pipx_metadata.json", "pipx uninstall navi"),
        ("tools/heynavi", "uv-receipt.toml", "uv tool uninstall heynavi"),
        ("uv/archive-v0/ZG_NpjPv", "pyvenv.cfg", "uv cache clean heynavi"),
        ("my env", "pyvenv.cfg", "'{}/bin/python' -m pip uninstall heynavi"),
    ],
)
def test_the_program_is_removed_the_way_it_was_installed(
    tmp_path: Path, folder: str, file: str, command: str
) -> None:
    prefix = tmp_path / folder
    prefix.mkdir(parents=True)
    (prefix / file).touch()
    assert removal_command(prefix, prefix / "bin/python") == command.format(prefix)


def test_an_installation_under_the_earlier_name_is_removed_under_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = tmp_path / "navi-0.1.0.dist-info"
    earlier.mkdir()
    (earlier / "METADATA").write_text("Metadata-Version: 2.4\nName: navi\nVersion: 0.1.0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *_without_site_packages()])
    prefix = tmp_path / "env"
    assert removal_command(prefix, prefix / "bin/python").endswith(" navi")


def _without_site_packages() -> list[str]:
    return [each for each in sys.path if "site-packages" not in each]


def test_of_a_checkout_only_the_environment_is_removed() -> None:
    assert removal_command(ROOT / ".venv") == f"rm -rf {ROOT}/.venv"
