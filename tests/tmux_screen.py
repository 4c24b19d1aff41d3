"""A command on a terminal that draws like a real one: tmux, with a person at its keyboard."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.waiting import eventually

ENDED = "[ended: "


class TmuxScreen:
    """Runs the command in a shell that says its exit code and then waits."""

    def __init__(
        self,
        command: Sequence[str],
        columns: int = 80,
        lines: int = 24,
        *,
        folder: Path | None = None,
        variables: Mapping[str, str] = {},
    ) -> None:
        # A socket's path may not be long, as those of tests' folders are.
        self._home = tempfile.mkdtemp(prefix="navi-tmux-")
        self._folder = folder or Path(self._home)
        # Not CI's and not a desktop's: a person at a terminal over ssh.
        environment = {**os.environ, "LANG": "C.UTF-8", "TZ": "UTC", **variables}
        for name in ("NO_COLOR", "DISPLAY", "WAYLAND_DISPLAY", "TMUX", "COLUMNS", "LINES"):
            if name not in variables:
                environment.pop(name, None)
        self._environment = environment
        line = f'before; {shlex.join(command)}; echo "{ENDED}$?]"; stty -g; exec sleep 1000'
        script = f"before() {{ echo before; stty -g; }}; {line}"
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), "sh", "-c", script)
        self._tmux("set", "-g", "set-clipboard", "on")

    def text(self) -> str:
        return self._tmux("capture-pane", "-p")

    def lines(self) -> list[str]:
        return self.text().splitlines()

    def coloured(self) -> str:
        """The text with the codes that colour it."""
        return self._tmux("capture-pane", "-p", "-e")

    async def shows(self, *texts: str) -> str:
        """Wait until all of these are on the screen; return the screen."""
        await self._becomes(lambda screen: all(text in screen for text in texts), str(texts))
        return self.text()

    async def hides(self, text: str) -> str:
        """Wait until this is not on the screen; return the screen."""
        await self._becomes(lambda screen: text not in screen, f"no {text!r}")
        return self.text()

    async def _becomes(self, is_right: Callable[[str], bool], what: str) -> None:
        try:
            await eventually(lambda: is_right(self.text()))
        except AssertionError as error:
            raise AssertionError(f"waited in vain for {what}:\n{self.text()}") from error

    async def ends(self) -> str:
        """Wait until the command has ended; return what is on the screen then."""
        return await self.shows(ENDED)

    def press(self, *keys: str) -> None:
        """Press keys by their names in tmux, such as Enter or S-Up."""
        self._tmux("send-keys", *keys)

    def type_text(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def resize(self, columns: int, lines: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def clipboard(self) -> str:
        return self._tmux("show-buffer")

    def processes(self, name: str) -> list[int]:
        """The command's processes with this in their command line."""
        pid = self._tmux("display", "-p", "#{pane_pid}").strip()
        rows = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", pid], capture_output=True, text=True
        ).stdout.splitlines()
        return [int(row.split()[0]) for row in rows if name in row]

    def __enter__(self) -> TmuxScreen:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._tmux("kill-server")
        shutil.rmtree(self._home, ignore_errors=True)

    def _tmux(self, *order: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", f"{self._home}/socket", "-f", os.devnull, *order],
            env=self._environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout
