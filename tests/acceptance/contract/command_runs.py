"""Navi's commands: what they print on a terminal or into a pipe, and how they end.

Each command gets a process of its own, forked from one that has already imported all of them: the
imports take much longer than most commands.
"""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from multiprocessing.forkserver import ensure_running
from unittest.mock import patch

from navi.cli.navi.main import COMMANDS as NAVI_COMMANDS
from navi.cli.recall.main import COMMANDS as RECALL_COMMANDS
from navi.cli.sm.main import COMMANDS as SM_COMMANDS
from tests.server import ServerProcess

_FORKS = get_context("forkserver")
# What the commands import only once they need it.
_IMPORTED_LATE = (
    *("duckdb", "encodings.idna", "tantivy", "navi.client", "navi.client.event_stream"),
    *("navi.live.store.engine.schema", "navi.memory.ingest.refresh", "navi.memory.overview.digest"),
    *("navi.memory.read.search", "navi.memory.read.session_transcript"),
    *("navi.memory.read.statistics", "navi.permissions.suggestions"),
    *(f"navi.vendors.{name}.history" for name in ("claude_code", "codex", "navi")),
)
_FORKS.set_forkserver_preload(
    [
        *(__name__, *_IMPORTED_LATE),
        *(
            module
            for commands in (NAVI_COMMANDS, RECALL_COMMANDS, SM_COMMANDS)
            for module, _ in commands.values()
        ),
    ]
)
PATIENCE_SECONDS = 60


@cache
def _start_warm_process() -> None:
    """Not in the test's home: later tests need it, and some worlds end all processes of a home."""
    with patch.dict(os.environ, {"HOME": "/nonexistent"}):
        ensure_running()


def run(
    command: Sequence[str], environment: Mapping[str, str], typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Its exit code and what it writes to each stream; `typed` is its standard input."""
    _start_warm_process()
    with ExitStack() as files:
        streams = [files.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        streams[0].write(typed.encode())
        streams[0].seek(0)
        ends = [files.enter_context(Connection(os.dup(each.fileno()))) for each in streams]
        process = _FORKS.Process(
            target=_become, args=(list(command), dict(environment), ends, (0, 1, 2))
        )
        process.start()
        process.join(PATIENCE_SECONDS)
        code = process.exitcode
        if code is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, PATIENCE_SECONDS)
        process.close()
        for each in streams:
            each.seek(0)
        _, output, errors = (each.read().decode() for each in streams)
    return subprocess.CompletedProcess(command, code, output, errors)


def navi(server: ServerProcess, *arguments: str) -> str:
    """What a `navi` command on the server's own store prints."""
    done = run(["navi", *arguments], {**server.environment, "NAVI_URL": server.address})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def recall(server: ServerProcess, *arguments: str) -> str:
    """What a `recall` command on the memory beside the server prints."""
    done = run(["recall", *arguments], server.environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_in_pipe(
    command: Sequence[str], environment: Mapping[str, str], until: str | None = None
) -> str:
    """What it prints into a pipe, on both streams. With `until`, it is interrupted then."""
    ours, theirs = os.pipe()
    return _run(command, environment, ours, theirs, until)


def run_on_terminal(
    command: Sequence[str],
    environment: Mapping[str, str],
    until: str | None = None,
    *,
    columns: int = 100,
    lines: int = 50,
    typed: str | None = None,
) -> str:
    """What it prints on a terminal of this size. With `until`, it is interrupted then.

    Without `typed`, nobody is at the keyboard: standard input is empty.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    if typed is not None:
        os.write(ours, typed.encode())
    output = _run(command, environment, ours, theirs, until, has_keyboard=typed is not None)
    return output.replace("\r\n", "\n")


def _run(
    command: Sequence[str],
    environment: Mapping[str, str],
    ours: int,
    theirs: int,
    until: str | None,
    *,
    has_keyboard: bool = False,
) -> str:
    _start_warm_process()
    used = (0, 1, 2) if has_keyboard else (1, 2)
    with Connection(theirs) as end:
        process = _FORKS.Process(
            target=_become,
            args=(list(command), dict(environment), [end] * len(used), used),
        )
        process.start()
    try:
        return _read(process, ours, until)
    finally:
        os.close(ours)
        process.join(PATIENCE_SECONDS)
        process.close()


def _become(
    command: list[str],
    environment: dict[str, str],
    ends: list[Connection],
    descriptors: tuple[int, ...],
) -> None:
    """Run the command in this process, with these ends as its standard streams."""
    for end, descriptor in zip(ends, descriptors, strict=True):
        os.dup2(end.fileno(), descriptor)
    for end in ends:
        end.close()
    if 0 in descriptors:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    program, *sys.argv[1:] = command
    import_module(f"navi.cli.{program}.main").main()


def _read(process: ForkServerProcess, descriptor: int, until: str | None) -> str:
    output = b""
    while True:
        try:
            piece = os.read(descriptor, 65_536)
        except OSError:  # a terminal whose last program has ended
            piece = b""
        if not piece:
            return output.decode()
        output += piece
        if until is not None and until.encode() in output:
            until = None
            assert process.pid is not None
            os.kill(process.pid, signal.SIGINT)
