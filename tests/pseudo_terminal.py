"""A command on a terminal of its own, and the person in front of it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType

from tests.waiting import PATIENCE_SECONDS

COLUMNS = 200


class PseudoTerminal:
    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            command,
            env={**environment, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(COLUMNS)},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self.screen = ""
        """Everything printed so far."""

    def wait_for(self, text: str) -> str:
        """Read until this is on the screen; return the screen."""
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while text not in self.screen:
            assert time.monotonic() < give_up_at, f"waited in vain for {text!r}:\n{self.screen}"
            assert self._read(), f"ended without {text!r}:\n{self.screen}"
        return self.screen

    def type_text(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> int:
        """Like Ctrl-C, which reaches all processes of the terminal; return the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        """Read to the end; return the exit code."""
        while self._read():
            pass
        return self.process.wait(PATIENCE_SECONDS)

    def _read(self) -> bool:
        """Read once; False if the command has ended."""
        ready, _, _ = select.select([self._ours], [], [], 1.0)
        if not ready:
            return True
        try:
            self.screen += os.read(self._ours, 65_536).decode().replace("\r\n", "\n")
        except OSError:  # nobody has the other end open any more
            return False
        return True

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        os.close(self._ours)
