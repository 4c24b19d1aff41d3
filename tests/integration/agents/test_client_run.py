"""Commands that outlive the server: real processes, but no real agent."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from navi.live.agents.command_line.detached_run import DetachedRun, delete_earlier_runs
from tests.waiting import eventually

PATH = {"PATH": os.environ["PATH"]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "turn-1"


def start(run: DetachedRun, script: str, cwd: Path, text: str = "") -> None:
    run.start(["/bin/sh", "-c", script], cwd, PATH, text)


async def lines_of(run: DetachedRun) -> list[bytes]:
    return [line async for line in run.lines()]


async def test_a_run_reads_its_input_and_says_how_it_ended(folder: Path, tmp_path: Path) -> None:
    run = DetachedRun(folder)
    assert not run.was_started
    start(run, "cat; pwd; echo oops >&2; exit 3", tmp_path, "one\ntwo\n")
    assert await lines_of(run) == [b"one", b"two", str(tmp_path).encode()]
    assert (run.exit_code, run.error_output) == (3, "oops")


async def test_the_client_has_the_umask_of_the_person_and_the_run_is_private(
    folder: Path, tmp_path: Path, private_umask: None
) -> None:
    run = DetachedRun(folder)
    start(run, "umask; touch made; ls -l made | cut -c 1-10", tmp_path)
    assert await lines_of(run) == [b"0027", b"-rw-r-----"]
    await run.clean_up()
    files = os.listdir(folder)
    assert set(files) >= {"pid", "input", "out", "err", "code"}
    assert [name for name in files if (folder / name).stat().st_mode & 0o077] == []


async def test_the_next_server_hears_everything_from_the_beginning(
    folder: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    first = DetachedRun(folder)
    start(
        first,
        f"echo first; while [ ! -e {gate} ]; do sleep 0.02; done; echo last",
        tmp_path,
    )
    again = DetachedRun(folder)
    assert again.was_started
    hearing = asyncio.create_task(lines_of(again))
    gate.touch()
    assert await hearing == [b"first", b"last"]
    assert again.exit_code == 0
    assert DetachedRun(folder).was_started, "also after its end: it must never be started again"
    assert await lines_of(first) == [b"first", b"last"]


async def test_a_run_goes_on_until_its_process_has_ended_and_not_only_dropped_its_lock(
    folder: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    run = DetachedRun(folder)
    start(run, f"while [ ! -e {gate} ]; do sleep 0.02; done; echo last", tmp_path)
    (folder / "lock").unlink()
    hearing = asyncio.create_task(lines_of(run))
    await asyncio.sleep(0)
    gate.touch()
    assert await hearing == [b"last"]


async def test_an_interrupted_run_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    run = DetachedRun(folder)
    # The inner process has its own group, like the commands of agents' tools.
    start(run, f"setsid sh -c 'echo $$ >{pid}; exec sleep 600' & wait; sleep 600", tmp_path)
    await eventually(lambda: pid.exists() and pid.read_text().strip(), "the process has begun")

    await run.interrupt()

    assert await lines_of(run) == []
    await eventually(lambda: not _is_alive(int(pid.read_text())), "the killed process is gone")


def test_only_the_folders_of_earlier_runs_are_removed(folder: Path) -> None:
    for name in ("turn-0", "turn-1"):
        (folder.parent / name).mkdir(parents=True)
    delete_earlier_runs(folder.parent, "turn-1")
    assert [each.name for each in folder.parent.iterdir()] == ["turn-1"]


def _is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status[status.rindex(")") + 2] not in "ZX"
