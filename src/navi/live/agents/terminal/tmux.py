"""Runs tmux on a socket of Navi's own: panes, their screens, and text pasted into them."""

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
from navi.base.file_locks import lock_file
from navi.base.file_modes import person_umask

WIDTH, HEIGHT = 200, 50
TIMEOUT_SECONDS = 10.0
TURN_OPTION, CONTEXT_OPTION, STARTED_OPTION = "@navi_turn", "@navi_context", "@navi_started"
"""Navi's options on a pane; see the last fields of `Pane`."""
FORMAT = "\t".join(
    f"#{{{name}}}"
    for name in (
        *("pid", "pane_id", "pane_pid", "pane_tty", "pane_dead", "pane_in_mode"),
        *("pane_dead_status", "pane_dead_signal", "history_size", "cursor_y", "alternate_on"),
        *(TURN_OPTION, CONTEXT_OPTION, STARTED_OPTION),
    )
)
SERVER_EXITED = "server exited unexpectedly"
ABSENT = re.compile(
    "can't find|no server running|No such file|Connection refused|server exited|lost server"
)
"""tmux's errors for a pane that doesn't exist. After other errors, the pane may still exist."""
LAUNCH_PREFIX = "launch-"
"""The prefix of scripts that start a pane's program."""
START_ATTEMPTS = 6
ENDING_ATTEMPTS = 6
QUERY_ATTEMPTS = 3
ABBREVIATION = re.compile(r"\[(?:Pasted|\.\.\.)")
"""How a composer abbreviates a long text."""
DEAD_PANE_LINE = re.compile(r"Pane is dead\b")
"""What tmux itself prints into a pane whose program has ended."""
ESCAPE_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]")


@dataclass(frozen=True, slots=True)
class Pane:
    server_pid: int
    id: str
    pid: int
    tty: str
    is_dead: bool
    is_in_mode: bool
    """The pane is in one of tmux's modes: a person is scrolling, so keys don't reach the agent."""
    exit_code: int | None
    """None unless the program has ended by itself."""
    signal: int | None
    """The signal that ended the program, if any. Older versions of tmux don't report it."""
    scrolled_lines: int
    """The number of lines that have scrolled off the screen."""
    cursor_line: int
    """The number of the cursor's line, counted from the first line that the program printed."""
    is_full_screen: bool
    """The program draws the whole screen, as editors do."""
    turn_id: str
    """The last turn whose prompt was pasted into the pane."""
    context: str
    """The session's `context_from_idx` when the program started; `clear` changes it."""
    started: float
    """When the program started: seconds since the epoch, by the file system's clock."""

    @property
    def has_ending(self) -> bool:
        """Whether tmux has reported how the program ended."""
        return self.exit_code is not None or self.signal is not None


class Tmux:
    """`socket` is the name of the socket of tmux's server, as in `tmux -L NAME`."""

    def __init__(self, socket: str, environment: Mapping[str, str]) -> None:
        self._socket = socket
        self._environment = {"LANG": "C.UTF-8", **environment}

    async def pane(self, name: str) -> Pane | None:
        """The only pane of the tmux session with this name; None if there is no such session."""
        try:
            lines = await self._query("list-panes", "-t", f"={name}:", "-F", FORMAT)
        except TmuxError as error:
            if ABSENT.search(error.message):
                return None
            raise
        values = lines[0].split("\t")
        server_pid, pane_id, pid, tty, dead, mode = values[:6]
        exit_code, signal, scrolled, cursor_y, alternate_on, turn_id, context, started = values[6:]
        return Pane(
            server_pid=int(server_pid),
            id=pane_id,
            pid=int(pid),
            tty=tty,
            is_dead=dead == "1",
            is_in_mode=mode == "1",
            exit_code=int(exit_code) if exit_code else None,
            signal=int(signal) if signal else None,
            scrolled_lines=int(scrolled),
            cursor_line=int(scrolled) + int(cursor_y),
            is_full_screen=alternate_on == "1",
            turn_id=turn_id,
            context=context,
            started=float(started or 0),
        )

    async def pane_with_ending(self, name: str) -> Pane | None:
        """The pane. If its program has ended, wait a moment until tmux reports how."""
        pane = await self.pane(name)
        for attempt in range(ENDING_ATTEMPTS):
            if pane is None or not pane.is_dead or pane.has_ending:
                break
            # tmux 3.3 sometimes misses the end of a child; this makes it check.
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
        """Start the command in a new pane, which stays open when the command ends.

        `folder` is for the script that starts the command. Only the command gets `environment`;
        tmux's server, which all panes share, does not.
        """
        environment = {**self._environment, **(environment or {})}
        for attempt in range(START_ATTEMPTS):
            script = _write_launch_script(folder, command, environment)
            started = str(script.stat().st_mtime)
            try:
                return await self._start(name, cwd, script, context, started)
            except TmuxServerExited:
                # tmux's server was exiting because its last pane had closed; the next attempt
                # starts a new one.
                script.unlink(missing_ok=True)
                await asyncio.sleep(0.05 * 2**attempt)
            except AgentFailed:
                script.unlink(missing_ok=True)
                raise
        raise AgentFailed(
            "tmux does not start: its server exits at once", hint="run `tmux` to see why"
        )

    async def _start(self, name: str, cwd: Path, script: Path, context: str, started: str) -> Pane:
        size = ("-x", str(WIDTH), "-y", str(HEIGHT))
        run_script = 'exec env -i TERM="$TERM" TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" /bin/sh "$0"'
        await self._run(
            *("start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"),
            *("new-session", "-d", "-s", name, *size, "-c", str(cwd)),
            *("/bin/sh", "-c", run_script, str(script), ";"),
            *("set-option", "-t", f"={name}:", "history-limit", "20000", ";"),
            *("set-option", "-p", "-t", f"={name}:", STARTED_OPTION, started, ";"),
            *("set-option", "-p", "-t", f"={name}:", CONTEXT_OPTION, context),
        )
        pane = await self.pane(name)
        if pane is None:
            raise AgentFailed(
                "tmux did not start a pane", hint="`navi doctor` checks the installation"
            )
        return pane

    async def end(self, name: str) -> None:
        await self._run("kill-session", "-t", f"={name}", may_fail=True)

    async def session_names(self) -> list[str]:
        """The names of all tmux sessions; empty if no tmux server is running."""
        command = ("list-sessions", "-F", "#{session_name}")
        return (await self._run(*command, may_fail=True)).splitlines()

    async def screen(self, pane: Pane) -> list[str]:
        """The lines on the screen, with their colours."""
        return await self._query("capture-pane", "-p", "-e", "-t", pane.id)

    async def output(self, pane: Pane, since_line: int = 0) -> list[str]:
        """The plain lines from `since_line` on; the whole screen if the program is full-screen."""
        start = 0 if pane.is_full_screen else since_line - pane.scrolled_lines
        screen = await self._query("capture-pane", "-p", "-J", "-S", str(start), "-t", pane.id)
        lines = [
            line.rstrip() for line in screen if not (pane.is_dead and DEAD_PANE_LINE.match(line))
        ]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    async def leave_mode(self, pane: Pane) -> None:
        await self._run("send-keys", "-t", pane.id, "-X", "cancel", may_fail=True)

    async def press(self, pane: Pane, key: str) -> None:
        await self._run("send-keys", "-t", pane.id, key)

    async def paste_and_submit(
        self, pane: Pane, text_file: Path, turn_id: str, pause: float, lock: Path
    ) -> None:
        """Paste the text, record the turn on the pane and press Enter, in one tmux command.

        tmux completes the command even if this process dies meanwhile; `lock` is held until the
        text is pasted. Without the pause, the agent would treat the Enter as part of the paste.
        Nothing is pasted into a dead pane: tmux 3.3 would crash, and end all other panes.
        """
        enter = f"send-keys -t {pane.id} Enter"
        set_turn = f"set-option -p -t {pane.id} {TURN_OPTION} {turn_id}"
        paste = f"paste-buffer -p -r -d -b {turn_id} -t {pane.id}"
        drop_text = f"delete-buffer -b {turn_id}"
        await self._run(
            *("load-buffer", "-b", turn_id, str(text_file), ";"),
            *(
                "if-shell",
                "-F",
                "-t",
                pane.id,
                "#{pane_dead}",
                drop_text,
                f"{set_turn} ; {paste}",
                ";",
            ),
            *("run-shell", "-b", "-d", str(pause), "-C", enter),
            lock=lock,
        )

    async def _query(self, *command: str) -> list[str]:
        """The lines that tmux prints. Retries, because tmux sometimes fails on a busy machine."""
        for attempt in range(1, QUERY_ATTEMPTS):
            try:
                return (await self._run(*command)).splitlines()
            except TmuxError as error:
                if ABSENT.search(error.message):
                    raise
            except AgentFailed:
                pass
            await asyncio.sleep(0.05 * 2**attempt)
        return (await self._run(*command)).splitlines()

    async def _run(self, *command: str, may_fail: bool = False, lock: Path | None = None) -> str:
        program = shutil.which("tmux", path=self._environment.get("PATH"))
        if program is None:
            raise AgentFailed("tmux is not installed", hint="install it, or choose another driver")
        arguments = [program, "-L", self._socket, "-f", os.devnull, *command]
        # In a thread, because a cancelled turn must not cut a command short, and because uvloop
        # would wait for the pipes to close. A tmux server that this command starts keeps them open.
        result = await asyncio.to_thread(self._execute, arguments, lock)
        if result.returncode and not may_fail:
            message = result.stderr.decode(errors="replace").strip()
            error = TmuxServerExited if message == SERVER_EXITED else TmuxError
            raise error(f"tmux failed: {message}")
        return "" if result.returncode else result.stdout.decode(errors="replace")

    def _execute(
        self, arguments: Sequence[str], lock: Path | None
    ) -> subprocess.CompletedProcess[bytes]:
        stdin = subprocess.DEVNULL if lock is None else lock_file(lock)
        try:
            return subprocess.run(
                arguments,
                env=self._environment,
                stdin=stdin,
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
                # The first command starts tmux's server, from which all panes inherit the umask.
                umask=person_umask(),
            )
        except subprocess.TimeoutExpired as error:
            raise AgentFailed("tmux is not responding") from error
        except OSError as error:
            raise AgentFailed(f"can't run tmux: {error}") from error
        finally:
            if stdin != subprocess.DEVNULL:
                os.close(stdin)


class TmuxError(AgentFailed):
    """tmux reported an error and did nothing."""


class TmuxServerExited(TmuxError):
    """tmux's server exited before it could do anything."""


def draft_in(lines: Sequence[str], composer_sign: str) -> str | None:
    """The first line of the composer's text; None if there is no composer on the screen.

    Leaves out the agent's hints, which are dim, and its cursor, which is reversed.
    """
    for line in reversed(lines):
        text = _plain(line)
        if text.lstrip().startswith(composer_sign):
            draft = _plain(line, without_hints=True).lstrip()
            return draft.removeprefix(composer_sign).strip()
    return None


def shows_prompt(draft: str, prompt: str) -> bool:
    """Whether a composer's first line, `draft`, shows the prompt or a part of it.

    Agents wrap and scroll pasted text, change its white space and abbreviate it if it is long.
    """
    visible = ABBREVIATION.split(draft)[0]
    if not visible:
        return draft != ""
    letters = _letters_and_digits(visible)
    return letters in _letters_and_digits(prompt) if letters else visible in prompt


def _letters_and_digits(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def has_unread_keys(pane: Pane) -> bool:
    """Whether there are keys that the program in the pane has not read yet."""
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
    """The line without its escape sequences and, if asked, without dim or reversed text."""
    pieces: list[str] = []
    is_hint = False
    position = 0
    for sequence in ESCAPE_SEQUENCE.finditer(line):
        if not (without_hints and is_hint):
            pieces.append(line[position : sequence.start()])
        position = sequence.end()
        for code in (sequence[1] or "0").split(";") if sequence[1] is not None else ():
            if code in ("2", "7"):
                is_hint = True
            elif code in ("", "0", "22", "27"):
                is_hint = False
    if not (without_hints and is_hint):
        pieces.append(line[position:])
    return "".join(pieces).replace("\xa0", " ")


def _write_launch_script(
    folder: Path, command: Sequence[str], environment: Mapping[str, str]
) -> Path:
    """Write a script that sets the environment, deletes itself and starts the command.

    Keys and tokens must not be arguments, which everybody on the machine can read.
    """
    names = [name for name in environment if re.fullmatch(r"[A-Za-z_]\w*", name)]
    exports = [name for name in names if name not in ("TERM", "TMUX", "TMUX_PANE")]
    lines = [f"export {name}={shlex.quote(environment[name])}" for name in exports]
    lines += ['rm -f -- "$0"', f"exec {shlex.join(command)}"]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(dir=folder, prefix=LAUNCH_PREFIX)
    with os.fdopen(handle, "w") as file:
        file.write("\n".join(lines) + "\n")
    return Path(path)
