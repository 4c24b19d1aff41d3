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
        after = f'code=$?; stty -g; echo "{ENDED}$code]"; exec sleep 1000'
        script = f"before() {{ echo before; stty -g; }}; before; {shlex.join(command)}; {after}"
        self._tmux("new-session", "-d", "-x", str(columns), "-y", str(lines), "sh", "-c", script)
        self._tmux("set", "-g", "set-clipboard", "on")

    def text(self) -> str:
        return self._tmux("capture-pane", "-p")

    def lines(self) -> list[str]:
        return self.text().splitlines()

    def coloured(self) -> str:
        """The text with the codes that colour it."""
        return self._tmux("capture-pane", "-p", "-e")

    async def shows(self, *texts: str, without: str | None = None) -> str:
        """Wait until all of these, and not `without`, are on the screen; return that screen."""

        def is_shown(screen: str) -> bool:
            return all(text in screen for text in texts) and (
                without is None or without not in screen
            )

        return await self.becomes(is_shown, f"{texts}, without {without!r}")

    async def becomes(self, is_expected: Callable[[str], bool], expected: str) -> str:
        """Wait until the screen is as expected and return it.

        Programs draw in steps, so check everything about a screen here, not after a first match.
        """

        def matching_screen() -> str | None:
            screen = self.text()
            return screen if is_expected(screen) else None

        try:
            screen: str = await eventually(matching_screen)
        except AssertionError as error:
            raise AssertionError(f"the screen never had {expected}:\n{self.text()}") from error
        return screen

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
