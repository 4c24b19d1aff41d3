"""Runs of the real `recall`: in this process, or on a terminal of a given width."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from navi.cli.recall.main import main
from tests.integration.cli.command_runs import as_a_process, exit_code, run

AS_A_PROCESS = [sys.executable, "-m", "navi.cli.recall.main"]
AT_A_TERMINAL = {
    "TERM": "xterm-256color",
    "PAGER": "cat",
    "TZ": "UTC",
    # As if they were not set.
    "NO_COLOR": "",
    "COLUMNS": "",
}
CODES = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Recall = Callable[..., Answer]


def on_terminal(columns: int, *words: str, keep_codes: bool = False, **variables: str) -> str:
    """Everything a new process prints on a terminal of that width."""
    environment = {**os.environ, **AT_A_TERMINAL, **variables}
    with _terminal(columns) as (theirs, output):
        subprocess.run(
            [*AS_A_PROCESS, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
        )
    return output.result() if keep_codes else CODES.sub("", output.result())


def on_terminal_here(columns: int, *words: str, **variables: str) -> str:
    """The same in this process, and with the codes. Not for commands that start a pager."""
    with (
        _terminal(columns) as (theirs, output),
        as_a_process({**AT_A_TERMINAL, **variables}),
        open(theirs, closefd=False) as stdin,
        open(theirs, "w", closefd=False) as screen,
        patch.object(sys, "stdin", stdin),
        patch.object(sys, "argv", ["recall", *words]),
        redirect_stdout(screen),
        redirect_stderr(screen),
    ):
        exit_code(main)
    return output.result()


@contextmanager
def _terminal(columns: int) -> Iterator[tuple[int, Future[str]]]:
    """A terminal, and everything printed on it once it is closed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with ThreadPoolExecutor(1) as reader:
        output = reader.submit(lambda: b"".join(_read(ours)).decode().replace("\r\n", "\n"))
        try:
            yield theirs, output
        finally:
            os.close(theirs)
    os.close(ours)


def offered(*words: str, shell: str = "bash") -> list[str]:
    """`words` as typed so far; the last one is not finished."""
    environment = {
        "_RECALL_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(("recall", *words)),
        "COMP_CWORD": str(len(words)) if shell != "fish" else words[-1],
    }
    ran = run(main, ["recall"], environment)
    assert ran.stderr == ""
    return [line.removeprefix("plain,") for line in ran.stdout.splitlines() if line]


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            yield os.read(terminal, 65_536)
        except OSError:  # the process has ended
            return
