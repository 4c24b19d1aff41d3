"""Commands on a terminal, or with their output in a pipe.

Each command gets a process of its own, forked from one that has already imported all of them: the
imports take much longer than most commands.
"""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess

from navi.cli.recall.main import COMMANDS as RECALL_COMMANDS
from navi.cli.sm.main import COMMANDS as SM_COMMANDS

_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *(__name__, "duckdb", "tantivy", "navi.client", "navi.memory.ingest.refresh"),
        *(module for module, _ in (*RECALL_COMMANDS.values(), *SM_COMMANDS.values())),
    ]
)


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
    with Connection(theirs) as end:
        process = _FORKS.Process(
            target=_become, args=(list(command), dict(environment), end, has_keyboard)
        )
        process.start()
    try:
        return _read(process, ours, until)
    finally:
        os.close(ours)
        process.join(60)
        process.close()


def _become(
    command: list[str], environment: dict[str, str], end: Connection, has_keyboard: bool
) -> None:
    """Run the command in this process: a program's name and its arguments."""
    for descriptor in (0, 1, 2) if has_keyboard else (1, 2):
        os.dup2(end.fileno(), descriptor)
    end.close()
    if has_keyboard:
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
