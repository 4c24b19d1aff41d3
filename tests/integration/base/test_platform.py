"""Questions about real processes, answered by both implementations.

Linux's ps and lsof understand the options with which macOS is asked, except `ps -E`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from navi.base.platform import CAN_READ_ALL_ENVIRONMENTS, linux, macos, pids_with_variable

TOOLS_MISSING = not (shutil.which("ps") and shutil.which("lsof"))
BOTH = [
    pytest.param(linux, marks=pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")),
    pytest.param(macos, marks=pytest.mark.skipif(TOOLS_MISSING, reason="needs ps and lsof")),
]
NO_SUCH_PID = 2**22 - 1
both = pytest.mark.parametrize("platform", BOTH, ids=lambda module: module.__name__)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process, with a file open and a variable in its environment."""
    with (tmp_path / "a file").open("w") as file:
        process = subprocess.Popen(
            ["cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, "NAVI_TURN_ID": "mark-of-a-test"},
        )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"ready")
    assert process.stdout.read(5) == b"ready"  # before this, it may have no environment yet
    with process:
        yield process
        process.kill()


@both
def test_a_process_has_a_start_until_it_ends(
    platform: ModuleType, other: subprocess.Popen[bytes]
) -> None:
    start = platform.process_start(other.pid)
    assert start
    assert platform.process_start(other.pid) == start
    other.kill()
    os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
    assert platform.process_start(other.pid) == ""  # a zombie is not alive
    other.wait()
    assert platform.process_start(other.pid) == ""
    assert platform.process_start(NO_SUCH_PID) == ""


@both
def test_a_start_contains_no_slash(platform: ModuleType) -> None:
    """The identity of a server is separated by slashes."""
    assert "/" not in platform.process_start(os.getpid())


@both
def test_a_process_is_listed_with_its_parent_and_its_group(
    platform: ModuleType, other: subprocess.Popen[bytes]
) -> None:
    process = platform.living_processes()[other.pid]
    assert (process.parent, process.group, process.name) == (os.getpid(), other.pid, "cat")
    assert platform.living_processes([other.pid, NO_SUCH_PID]) == {other.pid: process}
    assert platform.living_processes([]) == {}


@both
def test_the_start_does_not_depend_on_the_time_zone(
    platform: ModuleType, other: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    start = platform.process_start(other.pid)
    monkeypatch.setenv("TZ", "America/Lima")
    assert platform.process_start(other.pid) == start


@both
def test_a_processs_open_files_are_found(
    platform: ModuleType, other: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    file = str(tmp_path / "a file")
    assert file in platform.open_files(other.pid)
    assert (other.pid, file) in list(platform.all_open_files())
    assert platform.open_files(NO_SUCH_PID) == []


@pytest.mark.skipif(not CAN_READ_ALL_ENVIRONMENTS, reason="environments are hidden here")
def test_a_process_is_found_by_a_variable_of_its_environment(
    other: subprocess.Popen[bytes],
) -> None:
    assert other.pid in pids_with_variable("NAVI_TURN_ID", "mark-of-a-test")
    assert pids_with_variable("NAVI_TURN_ID", "mark-of-a-tes") == set()


def test_a_command_that_fails_is_never_read_as_no_such_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ps").write_text("#!/bin/sh\necho 'ps: out of memory' >&2\nexit 1\n")
    (tmp_path / "ps").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OSError, match="out of memory"):
        macos.process_start(os.getpid())
