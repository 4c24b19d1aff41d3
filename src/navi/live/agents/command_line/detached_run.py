"""One run of an agent's command line, which outlives the server that started it.

A run is a folder that shows whether the agent was started, whether it is still running, what it
printed and how it ended. So the next server can continue where the last one died, and no agent is
started twice for the same turn.

    lock      held (flock) by the run's shell while the agent is running
    pid       the shell's process id and process group; written before the agent starts
    input     the agent's standard input
    out, err  its output
    code      its exit code
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from navi.base.file_locks import is_locked, lock_file
from navi.base.file_modes import person_umask

# The shell outlives the agent to record its exit code, and ignores signals sent to their group. The
# lock is the shell's standard input, which the agent doesn't inherit. Other users can't read
# the run's files; the agent gets the person's own umask.
SCRIPT = """\
trap : INT TERM HUP
run=$PWD
echo $$ >pid
umask=$2
cd "$1" && shift 2 && (umask "$umask" && exec "$@") <"$run/input" >"$run/out" 2>"$run/err"
code=$?
cd "$run" && echo $code >code.new && mv code.new code
"""
TURN = "NAVI_TURN_ID"
"""A variable in the environment of the agent and of every process that it starts."""
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.005, 0.1
INTERRUPT_GRACE_SECONDS = 5.0
KILL_GRACE_SECONDS = 2.0
READ_BYTES = 1 << 18
SHOWN_ERROR_CHARACTERS = 600


class DetachedRun:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._was_seen_running = False

    @property
    def was_started(self) -> bool:
        """True as soon as the agent may have seen its input."""
        return (self._folder / "pid").exists() or self._is_locked()

    def start(
        self, command: Sequence[str], cwd: Path, environment: Mapping[str, str], text: str
    ) -> None:
        """Start the agent. Not a coroutine, so that it can't be cancelled halfway."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / "input").write_text(text)
        lock = lock_file(self._folder / "lock")
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", SCRIPT, "navi-run", str(cwd), f"{person_umask():o}", *command],
                cwd=self._folder,
                env={**environment, TURN: self._folder.name},
                stdin=lock,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(lock)

    async def lines(self) -> AsyncIterator[bytes]:
        """All lines of the agent's output, from the first one until it has ended."""
        rest, position = b"", 0
        pause = SHORTEST_PAUSE_SECONDS
        while True:
            # Checked before reading, so that the agent's last output is not missed.
            has_ended = not self._is_running()
            data = self._read(position)
            position += len(data)
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield line
            if data:
                pause = SHORTEST_PAUSE_SECONDS
            elif has_ended:
                break
            else:
                await asyncio.sleep(pause)
                pause = min(1.5 * pause, LONGEST_PAUSE_SECONDS)
        if rest:
            yield rest

    async def interrupt(self) -> None:
        """End the agent as Ctrl-C does, which lets it save its state; kill it if that fails."""
        try:
            if self._is_running():
                self._signal(signal.SIGINT)
            await self._wait_for_end(INTERRUPT_GRACE_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            await self._wait_for_end(KILL_GRACE_SECONDS)
            await self._end_orphans()

    async def clean_up(self) -> None:
        """Kill what a killed agent left running. Other agents clean up after themselves."""
        code = self.exit_code
        if code is None or code > 128:
            self._signal(signal.SIGKILL)
            await self._end_orphans()

    @property
    def exit_code(self) -> int | None:
        """None if it was not recorded, for instance because the machine went down."""
        try:
            return int((self._folder / "code").read_text())
        except (OSError, ValueError):
            return None

    @property
    def error_output(self) -> str:
        """The end of the agent's standard error."""
        try:
            text = (self._folder / "err").read_bytes()[-READ_BYTES:].decode(errors="replace")
        except OSError:
            return ""
        return text.strip()[-SHOWN_ERROR_CHARACTERS:]

    def _is_running(self) -> bool:
        # The shell releases its lock a moment before it ends. If it is our child, it must also be
        # waited for, or it stays as a zombie.
        return self._is_locked() or (self._process is not None and self._process.poll() is None)

    def _is_locked(self) -> bool:
        is_held = is_locked(self._folder / "lock")
        self._was_seen_running = self._was_seen_running or is_held
        return is_held

    def _read(self, position: int) -> bytes:
        try:
            with (self._folder / "out").open("rb") as output:
                output.seek(position)
                return output.read(READ_BYTES)
        except FileNotFoundError:
            return b""

    async def _wait_for_end(self, seconds: float) -> None:
        deadline = asyncio.get_running_loop().time() + seconds
        while self._is_running():
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return
            await asyncio.sleep(min(left, 0.02))

    async def _end_orphans(self) -> None:
        """Kill the commands of the agent's tools, which run in process groups of their own.

        They are recognised by their environment, which needs /proc. Without it, they keep running.
        """
        deadline = asyncio.get_running_loop().time() + KILL_GRACE_SECONDS
        while await asyncio.to_thread(self._kill_orphans):
            # A killed process has no environment, so the loop ends when all are dead.
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.sleep(SHORTEST_PAUSE_SECONDS)

    def _kill_orphans(self) -> bool:
        """Kill the processes that run now. False if there are none."""
        mark = f"{TURN}={self._folder.name}".encode()
        has_orphans = False
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    has_orphans = True
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass
        return has_orphans

    def _signal(self, number: int) -> None:
        if not self._was_seen_running:
            return  # the process id may belong to another process by now
        try:
            os.killpg(int((self._folder / "pid").read_text()), number)
        except (OSError, ValueError):
            pass


def delete_earlier_runs(folder: Path, current: str) -> None:
    """Remove the folders of a session's earlier runs, whose turns are stored."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.name != current:
            shutil.rmtree(entry, ignore_errors=True)
