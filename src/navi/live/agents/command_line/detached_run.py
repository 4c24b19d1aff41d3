"""One run of an agent's command line, which outlives the server that started it.

A run's folder records whether the agent was started, whether it is still running, what it printed
and how it ended. So the next server can continue where the last one stopped, and no agent is
started twice for the same turn.

    lock      held (flock) by the run's shell while the agent is running
    pid       the shell's process id, also its process group's; written before the agent starts
    input     the agent's standard input, or only its beginning if the agent may ask
    answers   a FIFO, the standard input of an agent that may ask
    keeper    the id of the process that keeps `answers` open
    answered  the ids of the answers that the agent may have read
    deferred  exists if the agent's hook has put off a call until a person decides
    ended     exists if the agent's input was closed
    out, err  the agent's output
    code      the agent's exit code
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from navi.base.file_locks import is_locked, lock_file
from navi.base.file_modes import person_umask
from navi.base.platform import pids_with_variable

# The shell ignores signals sent to the process group that it shares with the agent, because it must
# record the agent's exit code. The lock is the shell's standard input, which the agent doesn't
# inherit. Other users can't read the run's files; the agent gets the person's own umask.
#
# The keeper writes the beginning of the input and then sleeps, until it is killed. So the input of
# an agent that may ask stays open, even while no server is running.
SCRIPT = """\
trap : INT TERM HUP
run=$PWD
echo $$ >pid
umask=$2
input=$run/input
if [ -p answers ]; then
  { cat input && exec sleep 2147483647; } >answers </dev/null 2>/dev/null &
  echo $! >keeper
  input=$run/answers
fi
cd "$1" && shift 2 && (umask "$umask" && exec "$@") <"$input" >"$run/out" 2>"$run/err"
code=$?
cd "$run" && echo $code >code.new && mv code.new code
[ -p answers ] && [ ! -e ended ] && kill $! 2>/dev/null
"""
TURN_VARIABLE = "NAVI_TURN_ID"
"""Set in the environment of the agent, and so of every process that it starts."""
FOLDER_VARIABLE = "NAVI_RUN"
"""The run's folder, for the agent's hook (`hook.py`)."""
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.005, 0.1
INTERRUPT_GRACE_SECONDS = 5.0
KILL_GRACE_SECONDS = 2.0
READ_BYTES = 1 << 18
PIPE_BYTES = 1 << 16
"""How many bytes fit into any empty pipe."""
LONGEST_PIPE_BYTES = 1 << 20
"""The largest size that a pipe can be given on Linux."""
SHOWN_ERROR_CHARACTERS = 600


class DetachedRun:
    def __init__(self, folder: Path, turn_id: str | None = None) -> None:
        self._folder = folder
        self._turn_id = turn_id or folder.name
        self._writing = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._was_seen_running = False

    @property
    def was_started(self) -> bool:
        """True as soon as the agent may have seen its input."""
        return (self._folder / "pid").exists() or self._is_locked()

    def start(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        input_text: str,
        *,
        may_ask: bool = False,
    ) -> None:
        """Start the agent. Not a coroutine, so that it can't be cancelled halfway.

        The input of an agent that may ask stays open after `input_text`, until `end_input`.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / "input").write_text(input_text)
        if may_ask:
            with suppress(FileExistsError):
                os.mkfifo(self._folder / "answers", 0o600)
        lock = lock_file(self._folder / "lock")
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", SCRIPT, "navi-run", str(cwd), f"{person_umask():o}", *command],
                cwd=self._folder,
                env={
                    **environment,
                    TURN_VARIABLE: self._turn_id,
                    FOLDER_VARIABLE: str(self._folder),
                },
                stdin=lock,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(lock)

    async def lines(self, check: Callable[[], None] = lambda: None) -> AsyncIterator[bytes]:
        """All lines of the agent's output, from the first, until the agent has ended.

        Calls `check`, which may raise, before each read.
        """
        rest, position = b"", 0
        pause = SHORTEST_PAUSE_SECONDS
        while True:
            check()
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

    async def hand_over(self, answer_id: str, line: str) -> None:
        """Write an answer to the agent, if it is still running. May be repeated."""
        async with self._writing:
            try:
                fifo = os.open(self._folder / "answers", os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                return  # the agent has ended
            try:
                # Recorded first: once it is written, the agent may have read it.
                with (self._folder / "answered").open("a") as record:
                    record.write(f"{answer_id}\n")
                await _write(fifo, line.encode())
            except BrokenPipeError:
                pass  # the agent has just ended
            finally:
                os.close(fifo)

    @property
    def may_ask(self) -> bool:
        """Whether answers may follow the beginning of the agent's input."""
        return (self._folder / "answers").exists()

    @property
    def output_bytes(self) -> int:
        """How much output there is so far."""
        try:
            return (self._folder / "out").stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def was_killed(self) -> bool:
        """Whether an agent that has ended was killed, instead of exiting by itself."""
        code = self.exit_code
        return code is None or code > 128

    def continuation(self) -> DetachedRun:
        """The run that continues this one, if its agent is started again."""
        return DetachedRun(self._folder / "resumed", self._turn_id)

    @property
    def last(self) -> DetachedRun:
        """The last of the runs that continue this one; this one if there is none."""
        continuation = self.continuation()
        return continuation.last if continuation.was_started else self

    @property
    def handed_over(self) -> set[str]:
        """The ids of the answers that the agent may have read."""
        try:
            return set((self._folder / "answered").read_text().splitlines())
        except FileNotFoundError:
            return set()

    def end_input(self) -> None:
        """Close the agent's input, so that the agent exits when it is done."""
        try:
            keeper = int((self._folder / "keeper").read_text())
            (self._folder / "ended").touch()
            # Its id may belong to another process by now, but not in the same process group.
            if os.getpgid(keeper) == int((self._folder / "pid").read_text()):
                os.kill(keeper, signal.SIGKILL)
        except (OSError, ValueError):
            pass  # it has already ended

    async def interrupt(self) -> None:
        """End the agent as Ctrl-C does, which lets it save its state; kill it if that fails."""
        try:
            if self._is_running():
                self._signal(signal.SIGINT)
            await self._wait_for_end(INTERRUPT_GRACE_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            await self._wait_for_end(KILL_GRACE_SECONDS)
            await self._kill_orphans()

    async def clean_up(self) -> None:
        """If the agent was killed, kill the commands it left running.

        An agent that exits by itself ends its own commands.
        """
        if self.was_killed:
            self._signal(signal.SIGKILL)
            await self._kill_orphans()

    @property
    def exit_code(self) -> int | None:
        """None if none was recorded, for instance because the machine went down."""
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
        # The lock is released a moment before the shell ends. A shell that is our own child must be
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

    async def _kill_orphans(self) -> None:
        """Kill the commands of the agent's tools, which run in process groups of their own.

        They are recognised by `NAVI_TURN_ID` in their environment. Commands whose environment can't
        be read keep running.
        """
        deadline = asyncio.get_running_loop().time() + KILL_GRACE_SECONDS
        while await asyncio.to_thread(self._kill_orphans_once):
            # A killed process has no environment, so the loop ends when all are dead.
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.sleep(SHORTEST_PAUSE_SECONDS)

    def _kill_orphans_once(self) -> bool:
        """Kill the commands that are running now. False if there are none."""
        orphans = pids_with_variable(TURN_VARIABLE, self._turn_id)
        for pid in orphans:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass  # it has just ended
        return bool(orphans)

    def _signal(self, number: int) -> None:
        if not self._was_seen_running:
            return  # the process id may belong to another process by now
        try:
            os.killpg(int((self._folder / "pid").read_text()), number)
        except (OSError, ValueError):
            pass


async def _write(fifo: int, data: bytes) -> None:
    """Write all the data, in one piece if the pipe can be made large enough."""
    if len(data) > PIPE_BYTES and (set_size := getattr(fcntl, "F_SETPIPE_SZ", None)):
        with suppress(OSError):
            fcntl.fcntl(fifo, set_size, min(len(data), LONGEST_PIPE_BYTES))
    while data:
        try:
            data = data[os.write(fifo, data) :]
        except BlockingIOError:
            await asyncio.sleep(SHORTEST_PAUSE_SECONDS)


def delete_earlier_runs(folder: Path, current_turn_id: str) -> None:
    """Delete a session's run folders except the current turn's: earlier turns are stored by now."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.name != current_turn_id:
            shutil.rmtree(entry, ignore_errors=True)
