"""One run of an agent's command line that outlives the server which started it.

The run is a folder. Whatever happens to the server, its folder says whether the client was started,
whether it still works, what it has said so far and how it ended, so the next server goes on where
the last one stood, and no client is ever started twice for the same turn.

    lock    held (flock) by the run's shell for as long as the client works
    pid     the shell's own, which is also its process group; written before the client starts
    input   what the client reads; out, err: what it says
    code    how it ended
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from navi.base.file_modes import person_umask

# The shell stays behind the client to write down how it ended; signals to the group are for the
# client. Its own standard input is the lock, which the client does not get. What the shell writes
# is closed to other users; the client works with the person's own umask.
KEEPER = """\
trap : INT TERM HUP
run=$PWD
echo $$ >pid
umask=$2
cd "$1" && shift 2 && (umask "$umask" && exec "$@") <"$run/input" >"$run/out" 2>"$run/err"
code=$?
cd "$run" && echo $code >code.new && mv code.new code
"""
TURN = "NAVI_TURN_ID"
"""In the environment of the client, and so of all that it starts."""
SHORTEST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.005, 0.1
INTERRUPT_GRACE_SECONDS = 5.0
KILL_GRACE_SECONDS = 2.0
READ_BYTES = 1 << 18
SHOWN_ERROR_CHARACTERS = 600


class ClientRun:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._was_seen_at_work = False

    @property
    def was_started(self) -> bool:
        """True for ever once a client may have seen the input."""
        return (self._folder / "pid").exists() or self._is_locked()

    def start(
        self, command: Sequence[str], cwd: Path, environment: Mapping[str, str], text: str
    ) -> None:
        """Not a coroutine, so that no cancellation can come in between."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self._folder / "input").write_text(text)
        lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, "navi-run", str(cwd), f"{person_umask():o}", *command],
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
        """What the client says from its beginning, until it has ended."""
        rest, position = b"", 0
        pause = SHORTEST_PAUSE_SECONDS
        while True:
            # Looked at before reading: what an ended client said is all there.
            has_ended = not self._works()
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
        """Ask the client to end as Ctrl-C does, so that it can write down where it was."""
        try:
            if self._works():
                self._signal(signal.SIGINT)
            await self._ends(INTERRUPT_GRACE_SECONDS)
        finally:
            self._signal(signal.SIGKILL)
            await self._ends(KILL_GRACE_SECONDS)
            await self._end_orphans()

    async def clean_up(self) -> None:
        """End what a client that was killed left behind. One that ended by itself saw to it."""
        code = self.exit_code
        if code is None or code > 128:
            self._signal(signal.SIGKILL)
            await self._end_orphans()

    @property
    def exit_code(self) -> int | None:
        """None if it ended without saying, for instance because the machine went down."""
        try:
            return int((self._folder / "code").read_text())
        except (OSError, ValueError):
            return None

    @property
    def complaint(self) -> str:
        """The end of what the client wrote on its standard error."""
        try:
            text = (self._folder / "err").read_bytes()[-READ_BYTES:].decode(errors="replace")
        except OSError:
            return ""
        return text.strip()[-SHOWN_ERROR_CHARACTERS:]

    def _works(self) -> bool:
        # A shell drops its lock a moment before it has ended. Unless a child of this process is
        # waited for until then, it stays as a zombie.
        return self._is_locked() or (self._process is not None and self._process.poll() is None)

    def _is_locked(self) -> bool:
        try:
            lock = os.open(self._folder / "lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._was_seen_at_work = True
            return True
        finally:
            os.close(lock)
        return False

    def _read(self, position: int) -> bytes:
        try:
            with (self._folder / "out").open("rb") as said:
                said.seek(position)
                return said.read(READ_BYTES)
        except FileNotFoundError:
            return b""

    async def _ends(self, seconds: float) -> None:
        deadline = asyncio.get_running_loop().time() + seconds
        while self._works():
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return
            await asyncio.sleep(min(left, 0.02))

    async def _end_orphans(self) -> None:
        """Agents give the commands of their tools process groups of their own, so they are known
        by their environment. Only where /proc is; elsewhere they are left."""
        deadline = asyncio.get_running_loop().time() + KILL_GRACE_SECONDS
        while await asyncio.to_thread(self._kill_orphans):
            # A killed process has no environment any more, so none is left when none is found.
            if asyncio.get_running_loop().time() > deadline:
                return
            await asyncio.sleep(SHORTEST_PAUSE_SECONDS)

    def _kill_orphans(self) -> bool:
        """Whether there were any."""
        mark = f"{TURN}={self._folder.name}".encode()
        was_one = False
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    was_one = True
                    os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                pass
        return was_one

    def _signal(self, number: int) -> None:
        if not self._was_seen_at_work:
            return  # the number may be somebody else's by now
        try:
            os.killpg(int((self._folder / "pid").read_text()), number)
        except (OSError, ValueError):
            pass


def forget_runs(folder: Path, but: str) -> None:
    """Remove the folders of a session's earlier runs: their turns are stored."""
    for entry in folder.iterdir() if folder.is_dir() else ():
        if entry.name != but:
            shutil.rmtree(entry, ignore_errors=True)
