"""tmux, on a socket of Navi's own: panes, what they show, and texts put into them."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import shlex
import shutil
import struct
import subprocess
import tempfile
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGCHLD

from navi.base.errors import AgentFailed
from navi.base.file_modes import person_umask

WIDTH, HEIGHT = 200, 50
PATIENCE_SECONDS = 10.0
TURN, CONTEXT, STARTED = "@navi_turn", "@navi_context", "@navi_started"
"""What Navi notes at a pane: the turn that was put in last, which context it belongs to, and when
its program was started."""
FORMAT = "\t".join(
    f"#{{{name}}}"
    for name in (
        *("pid", "pane_id", "pane_pid", "pane_tty", "pane_dead", "pane_in_mode"),
        *("pane_dead_status", "pane_dead_signal", "history_size", "cursor_y", "alternate_on"),
        *(TURN, CONTEXT, STARTED),
    )
)
SERVER_EXITED = "server exited unexpectedly"
ABSENT = re.compile(
    "can't find|no server running|No such file|Connection refused|server exited|lost server"
)
"""What tmux says of a pane that is not there; anything else says nothing about the pane."""
LAUNCH = "launch-"
"""The prefix of scripts that start a pane's program."""
START_ATTEMPTS = 6
ENDING_ATTEMPTS = 6
LOOK_ATTEMPTS = 3
PASTED = re.compile(r"\[(?:Pasted|\.\.\.)")
"""What stands in a composer in place of a long text."""
DEAD = re.compile(r"Pane is dead\b")
"""What tmux itself prints into a pane whose program has ended."""
SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]")


@dataclass(frozen=True, slots=True)
class Pane:
    server_pid: int
    id: str
    pid: int
    tty: str
    is_dead: bool
    is_in_mode: bool
    """A person scrolls in it: keys would not reach the agent."""
    exit_code: int | None
    """Of a program that has ended by itself."""
    signal: int | None
    """The one that ended the program; older versions of tmux don't say."""
    scrolled: int
    """How many lines have left the screen at its top."""
    cursor_line: int
    """Where the program prints next, counted from the first line that it ever printed."""
    is_full_screen: bool
    """The program draws a screen of its own, as editors do."""
    turn_id: str
    context: str
    started: float
    """In seconds since the epoch, by the clock that also dates files."""

    @property
    def is_explained(self) -> bool:
        """Whether tmux says how the program ended."""
        return self.exit_code is not None or self.signal is not None


class Tmux:
    """`socket` is the name of the server's socket, as in `tmux -L NAME`."""

    def __init__(self, socket: str, environment: Mapping[str, str]) -> None:
        self._socket = socket
        self._environment = {"LANG": "C.UTF-8", **environment}

    async def pane(self, name: str) -> Pane | None:
        """The pane of the session of that name, if there is one."""
        try:
            lines = await self._look("list-panes", "-t", f"={name}:", "-F", FORMAT)
        except Refused as refusal:
            if ABSENT.search(refusal.message):
                return None
            raise
        found = lines[0].split("\t")
        server_pid, pane_id, pid, tty, dead, mode = found[:6]
        exit_code, signal, scrolled, cursor_y, alternate_on, turn_id, context, started = found[6:]
        return Pane(
            server_pid=int(server_pid),
            id=pane_id,
            pid=int(pid),
            tty=tty,
            is_dead=dead == "1",
            is_in_mode=mode == "1",
            exit_code=int(exit_code) if exit_code else None,
            signal=int(signal) if signal else None,
            scrolled=int(scrolled),
            cursor_line=int(scrolled) + int(cursor_y),
            is_full_screen=alternate_on == "1",
            turn_id=turn_id,
            context=context,
            started=float(started or 0),
        )

    async def pane_with_ending(self, name: str) -> Pane | None:
        """The pane; if its program has ended, with its exit code or signal."""
        pane = await self.pane(name)
        for attempt in range(ENDING_ATTEMPTS):
            if pane is None or not pane.is_dead or pane.is_explained:
                break
            # tmux 3.3 sometimes misses that its children have ended; then this makes it look.
            with suppress(OSError):
                os.kill(pane.server_pid, SIGCHLD)
            await asyncio.sleep(0.02 * 2**attempt)
            pane = await self.pane(name)
        return pane

    async def start(
        self,
        name: str,
        command: Sequence[str],
        cwd: Path,
        folder: Path,
        context: str,
        environment: Mapping[str, str] | None = None,
    ) -> Pane:
        """A pane with the command in it. It stays when the command ends, to be looked at.

        `environment` is for the command alone: tmux's server, which all panes share, does not get
        it.
        """
        environment = {**self._environment, **(environment or {})}
        for attempt in range(START_ATTEMPTS):
            launch = _write_launch(folder, command, environment)
            started = str(launch.stat().st_mtime)
            try:
                return await self._start(name, cwd, launch, context, started)
            except ServerExited:
                # It ended with its last pane, which was closed a moment ago. The next one is new.
                launch.unlink(missing_ok=True)
                await asyncio.sleep(0.05 * 2**attempt)
            except AgentFailed:
                launch.unlink(missing_ok=True)
                raise
        raise AgentFailed(
            "tmux can't be started", hint="its server exits at once; run `tmux` to see why"
        )

    async def _start(self, name: str, cwd: Path, launch: Path, context: str, started: str) -> Pane:
        size = ("-x", str(WIDTH), "-y", str(HEIGHT))
        inside = 'exec env -i TERM="$TERM" TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" /bin/sh "$0"'
        await self._run(
            *("start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"),
            *("new-session", "-d", "-s", name, *size, "-c", str(cwd)),
            *("/bin/sh", "-c", inside, str(launch), ";"),
            *("set-option", "-t", f"={name}:", "history-limit", "20000", ";"),
            *("set-option", "-p", "-t", f"={name}:", STARTED, started, ";"),
            *("set-option", "-p", "-t", f"={name}:", CONTEXT, context),
        )
        pane = await self.pane(name)
        if pane is None:
            raise AgentFailed("tmux started no pane", hint="`navi doctor` checks the installation")
        return pane

    async def end(self, name: str) -> None:
        await self._run("kill-session", "-t", f"={name}", may_fail=True)

    async def names(self) -> list[str]:
        """Of all sessions; none if no tmux server runs."""
        order = ("list-sessions", "-F", "#{session_name}")
        return (await self._run(*order, may_fail=True)).splitlines()

    async def screen(self, pane: Pane) -> list[str]:
        """The lines as they are shown, with their colours."""
        return await self._look("capture-pane", "-p", "-e", "-t", pane.id)

    async def printed(self, pane: Pane, since_line: int = 0) -> list[str]:
        """What the program printed from that line on, without colours and blank ends."""
        start = 0 if pane.is_full_screen else since_line - pane.scrolled
        lines = await self._look("capture-pane", "-p", "-J", "-S", str(start), "-t", pane.id)
        shown = [line.rstrip() for line in lines if not (pane.is_dead and DEAD.match(line))]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    async def leave_mode(self, pane: Pane) -> None:
        await self._run("send-keys", "-t", pane.id, "-X", "cancel", may_fail=True)

    async def press(self, pane: Pane, key: str) -> None:
        await self._run("send-keys", "-t", pane.id, key)

    async def put(self, pane: Pane, text: Path, turn_id: str, pause: float, lock: Path) -> None:
        """Paste the text whole, press Enter once, and note the turn, all by one order.

        tmux carries it out even if this process dies meanwhile. The pause is for the agent, which
        would take an Enter that comes too soon for a part of the paste. If its program has ended,
        nothing is pasted or noted: tmux 3.3 crashes when it pastes into a dead pane, and with it
        all other panes.
        """
        enter = f"send-keys -t {pane.id} Enter"
        note = f"set-option -p -t {pane.id} {TURN} {turn_id}"
        paste = f"paste-buffer -p -r -d -b {turn_id} -t {pane.id}"
        forget = f"delete-buffer -b {turn_id}"
        await self._run(
            *("load-buffer", "-b", turn_id, str(text), ";"),
            *("if-shell", "-F", "-t", pane.id, "#{pane_dead}", forget, f"{note} ; {paste}", ";"),
            *("run-shell", "-b", "-d", str(pause), "-C", enter),
            lock=lock,
        )

    async def _look(self, *order: str) -> list[str]:
        """The lines that tmux prints. One failure says little on a busy machine: ask again."""
        for attempt in range(1, LOOK_ATTEMPTS):
            try:
                return (await self._run(*order)).splitlines()
            except Refused as refusal:
                if ABSENT.search(refusal.message):
                    raise
            except AgentFailed:
                pass
            await asyncio.sleep(0.05 * 2**attempt)
        return (await self._run(*order)).splitlines()

    async def _run(self, *order: str, may_fail: bool = False, lock: Path | None = None) -> str:
        program = shutil.which("tmux", path=self._environment.get("PATH"))
        if program is None:
            raise AgentFailed("tmux is not installed", hint="install it, or choose another driver")
        command = [program, "-L", self._socket, "-f", os.devnull, *order]
        # In a thread: a cancelled turn must not leave half an order behind, and uvloop's own
        # subprocesses wait for the tmux server, which an order may start, to close its pipes.
        done = await asyncio.to_thread(self._carry_out, command, lock)
        if done.returncode and not may_fail:
            words = done.stderr.decode(errors="replace").strip()
            refusal = ServerExited if words == SERVER_EXITED else Refused
            raise refusal(f"tmux refused: {words}")
        return "" if done.returncode else done.stdout.decode(errors="replace")

    def _carry_out(
        self, command: Sequence[str], lock: Path | None
    ) -> subprocess.CompletedProcess[bytes]:
        held = subprocess.DEVNULL if lock is None else _held(lock)
        try:
            return subprocess.run(
                command,
                env=self._environment,
                stdin=held,
                capture_output=True,
                timeout=PATIENCE_SECONDS,
                check=False,
                # The first command starts tmux's server, from which all panes inherit it.
                umask=person_umask(),
            )
        except subprocess.TimeoutExpired as error:
            raise AgentFailed("tmux is not responding") from error
        except OSError as error:
            raise AgentFailed(f"tmux can't be run: {error}") from error
        finally:
            if held != subprocess.DEVNULL:
                os.close(held)


class Refused(AgentFailed):
    """tmux answered that it did not do what it was asked for."""


class ServerExited(Refused):
    """tmux's server ended while it was asked: whatever was asked for did not happen."""


def is_held(lock: Path) -> bool:
    """Whether an order to tmux, perhaps of a server that is gone, is still under way."""
    try:
        handle = os.open(lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def draft_in(lines: Sequence[str], mark: str) -> str | None:
    """What a person has typed after the agent's mark; None if the mark is not on the screen.

    Agents show hints in the same place, which are dim, and a cursor, which is reversed.
    """
    for line in reversed(lines):
        text = _plain(line)
        if text.lstrip().startswith(mark):
            typed = _plain(line, without_hints=True).lstrip()
            return typed.removeprefix(mark).strip()
    return None


def is_same_text(draft: str, prompt: str) -> bool:
    """Whether the first line of a composer shows the prompt, or a part of it.

    Agents wrap and scroll what was pasted, change its blanks, and abbreviate long texts.
    """
    visible = PASTED.split(draft)[0]
    if not visible:
        return draft != ""
    letters = _letters(visible)
    return letters in _letters(prompt) if letters else visible in prompt


def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def has_unread_keys(pane: Pane) -> bool:
    """Whether the program in the pane has not yet read all that was typed."""
    try:
        terminal = os.open(pane.tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        [count] = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)))
    except OSError:
        return False
    finally:
        os.close(terminal)
    return bool(count)


def _plain(line: str, *, without_hints: bool = False) -> str:
    shown: list[str] = []
    is_hint = False
    position = 0
    for found in SEQUENCE.finditer(line):
        if not (without_hints and is_hint):
            shown.append(line[position : found.start()])
        position = found.end()
        for code in (found[1] or "0").split(";") if found[1] is not None else ():
            if code in ("2", "7"):
                is_hint = True
            elif code in ("", "0", "22", "27"):
                is_hint = False
    if not (without_hints and is_hint):
        shown.append(line[position:])
    return "".join(shown).replace("\xa0", " ")


def _write_launch(folder: Path, command: Sequence[str], environment: Mapping[str, str]) -> Path:
    """A script rather than arguments: keys and tokens are nobody else's business. For the same
    reason it removes itself before the command starts."""
    names = [name for name in environment if re.fullmatch(r"[A-Za-z_]\w*", name)]
    kept = [name for name in names if name not in ("TERM", "TMUX", "TMUX_PANE")]
    lines = [f"export {name}={shlex.quote(environment[name])}" for name in kept]
    lines += ['rm -f -- "$0"', f"exec {shlex.join(command)}"]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(dir=folder, prefix=LAUNCH)
    with os.fdopen(handle, "w") as file:
        file.write("\n".join(lines) + "\n")
    return Path(path)


def _held(lock: Path) -> int:
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle
