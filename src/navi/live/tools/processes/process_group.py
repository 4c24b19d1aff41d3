"""A command and the processes it starts, waited for and ended as one.

asyncio's own subprocesses won't do: their `wait` also waits for the pipe, which a background
process may hold forever, and a call that is cancelled while one starts loses track of it.
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
from navi.base.platform import Process
from navi.live.tools.processes.process_tree import (
    MARK_VARIABLE,
    is_any_alive,
    kill_all,
    processes_of,
    send_signal,
)

# How often to check whether the command has ended: often at first, because most are short.
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.001, 0.05
# As much as a pipe holds.
READ_BYTES = 1 << 16
# A killed process is gone at once, unless the kernel holds it; then waiting longer won't help.
REAP_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """`output_end` is set once no process can print anything more."""

    process: subprocess.Popen[bytes]
    mark: str
    output_end: asyncio.Future[None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @classmethod
    def start(
        cls, command: Sequence[str], cwd: Path, environment: Mapping[str, str]
    ) -> ProcessGroup:
        """Not a coroutine, so no cancellation can come between the start and the caller."""
        mark = secrets.token_hex(8)
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**environment, MARK_VARIABLE: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            umask=person_umask(),
        )
        return cls(process, mark)

    def listen(self, receive: Callable[[bytes], None]) -> None:
        """Pass the processes' output to `receive` until `stop_listening` is called."""
        pipe = self._pipe.fileno()
        os.set_blocking(pipe, False)
        asyncio.get_running_loop().add_reader(pipe, self._read, pipe, receive)

    def stop_listening(self) -> None:
        if not self._pipe.closed:
            asyncio.get_running_loop().remove_reader(self._pipe.fileno())
            self._pipe.close()

    async def wait_for_end(self, seconds: float) -> bool:
        """Wait for the command, not for its background processes. False if `seconds` pass first."""
        deadline = _now() + seconds
        pause = SHORTEST_PAUSE_SECONDS
        while self.process.poll() is None:
            remaining = deadline - _now()
            if remaining <= 0:
                return False
            if self.output_end.done():
                await asyncio.sleep(min(pause, remaining))
            elif await self.wait_for_output_end(min(pause, remaining)):
                pause = SHORTEST_PAUSE_SECONDS  # it is probably ending right now
                continue
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        return True

    async def wait_for_output_end(self, seconds: float) -> bool:
        """Wait until no process can print anything more. False if `seconds` pass first."""
        # Not asyncio.timeout: before Python 3.11.3, in a task that was cancelled earlier, it raises
        # CancelledError instead of TimeoutError, so a cancelled call would not wait for the process
        # it killed.
        await asyncio.wait({self.output_end}, timeout=seconds)
        if not self.output_end.done():
            # If this process was itself suspended, there may be unread output.
            for _ in range(3):
                await asyncio.sleep(0)
        return self.output_end.done()

    async def end(self, grace_seconds: float) -> Set[Process]:
        """Ask every process to end; kill the rest after `grace_seconds`, or at once if cancelled.

        Returns the survivors that process_tree.py can find.
        """
        processes: Set[Process] = frozenset()
        try:
            # Before any signal: some processes can be found only while the command is alive.
            processes = await asyncio.to_thread(processes_of, self.mark, self._root)
            escaped = [process for process in processes if process.group != self.process.pid]
            deadline = _now() + grace_seconds
            pause = SHORTEST_PAUSE_SECONDS
            self._signal(signal.SIGTERM)
            send_signal(signal.SIGTERM, escaped)
            while (self._signal(0) or is_any_alive(escaped)) and _now() < deadline:
                self.process.poll()  # until it is reaped, a dead process is a member of its group
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            # In a thread, which another cancellation can't stop.
            survivors = await asyncio.to_thread(
                kill_all, self.mark, self._root, processes, REAP_SECONDS
            )
            await self.wait_for_end(REAP_SECONDS)
        return survivors

    @property
    def _root(self) -> int | None:
        return self.process.pid if self.process.returncode is None else None

    @property
    def _pipe(self) -> IO[bytes]:
        assert self.process.stdout is not None  # `start` passes PIPE
        return self.process.stdout

    def _read(self, pipe: int, receive: Callable[[bytes], None]) -> None:
        try:
            data = os.read(pipe, READ_BYTES)
        except BlockingIOError:
            return
        if data:
            receive(data)
        else:
            self.stop_listening()
            self.output_end.set_result(None)

    def _signal(self, number: int) -> bool:
        """Signal the group, whose id is its first process's. False if no process got the signal."""
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()
