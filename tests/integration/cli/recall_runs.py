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
from dataclasses import dataclass
from typing import Any

from navi.cli.recall.main import main
from tests.integration.cli.command_runs import run

AS_A_PROCESS = [sys.executable, "-m", "navi.cli.recall.main"]
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
    """Everything `recall` prints on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    plain = {
        name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")
    }
    environment = {**plain, "TERM": "xterm-256color", "PAGER": "cat", "TZ": "UTC", **variables}
    process = subprocess.Popen(
        [*AS_A_PROCESS, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    output = b"".join(_read(ours)).decode().replace("\r\n", "\n")
    os.close(ours)
    process.wait()
    return output if keep_codes else CODES.sub("", output)


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
