"""A command with the processes it starts, as one thing that can be waited for and ended.

Not with asyncio's own subprocesses: their `wait` also waits for the pipe, which a background
process may hold for ever, and a call that is cancelled while they start loses sight of
the processes.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from navi.base.file_modes import person_umask
from navi.live.tools.processes.process_tree import (
    MARK,
    Process,
    is_any_alive,
    kill_all,
    processes_of,
    send,
)

# How often to look whether the command has ended: at first often, because most are short.
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.001, 0.05
# As much as a pipe holds.
READ_BYTES = 1 << 16
# A killed process is gone in no time, unless the kernel holds it. Then waiting longer won't help.
REAP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """`silence` is done when no process can print any more."""

    process: subprocess.Popen[bytes]
    mark: str
    silence: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @classmethod
    def start(
        cls, command: Sequence[str], cwd: Path, environment: Mapping[str, str]
    ) -> ProcessGroup:
        """Not a coroutine, so that no cancellation can come between the start and its caller."""
        mark = secrets.token_hex(8)
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**environment, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            umask=person_umask(),
        )
        return cls(process, mark)

    def listen(self, take: Callable[[bytes], None]) -> None:
        """Hand what the processes print to `take`, until `hang_up`."""
        pipe = self._pipe.fileno()
        os.set_blocking(pipe, False)
        asyncio.get_running_loop().add_reader(pipe, self._read, pipe, take)

    def hang_up(self) -> None:
        if not self._pipe.closed:
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            self._pipe.close()

    async def has_ended(self, seconds: float) -> bool:
        """Whether the command itself ends in time; processes that it left behind don't count."""
        deadline = _now() + seconds
        pause = SHORTEST_PAUSE_SECONDS
        while self.process.poll() is None:
            left = deadline - _now()
            if left <= 0:
                return False
            if self.silence.done():
                await asyncio.sleep(min(pause, left))
            elif await self.becomes_silent(min(pause, left)):
                pause = SHORTEST_PAUSE_SECONDS  # most likely it ends right now
                continue
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return True

    async def becomes_silent(self, seconds: float) -> bool:
        # Not with asyncio.timeout: before Python 3.11.3 it raises CancelledError instead of
        # TimeoutError in a task that was cancelled before, so a cancelled call would not wait for
        # the process that it killed.
        await asyncio.wait({self.silence}, timeout=seconds)
        if not self.silence.done():
            # If this process itself stood still, what is there has not been read yet.
            for _ in range(3):
                await asyncio.sleep(0)
        return self.silence.done()

    async def end(self, grace_seconds: float) -> Set[Process]:
        """Ask every process to end, then kill the rest. A cancellation cuts the asking short.

        Returns those that could not be ended. What can't be found is not among them: see
        process_tree.py.
        """
        everyone: Set[Process] = frozenset()
        try:
            # First of all: the command leads to the others only while it lives.
            everyone = await asyncio.to_thread(processes_of, self.mark, self._root)
            escaped = [each for each in everyone if each.group != self.process.pid]
            deadline = _now() + grace_seconds
            pause = SHORTEST_PAUSE_SECONDS
            self._signal(signal.SIGTERM)
            send(signal.SIGTERM, escaped)
            while (self._signal(0) or is_any_alive(escaped)) and _now() < deadline:
                self.process.poll()  # until it is reaped, a dead process is a member of its group
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            # In a thread, which a further cancellation does not stop.
            left = await asyncio.to_thread(kill_all, self.mark, self._root, everyone, REAP_SECONDS)
            await self.has_ended(REAP_SECONDS)
        return left

    @property
    def _root(self) -> int | None:
        return self.process.pid if self.process.returncode is None else None

    @property
    def _pipe(self) -> IO[bytes]:
        assert self.process.stdout is not None  # `start` asked for it
        return self.process.stdout

    def _read(self, pipe: int, take: Callable[[bytes], None]) -> None:
        try:
            data = os.read(pipe, READ_BYTES)
        except BlockingIOError:
            return
        if data:
            take(data)
        else:
            self.hang_up()
            self.silence.set_result(None)

    def _signal(self, number: int) -> bool:
        """Whether there was anybody to get it. The group has the number of its first process."""
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()
