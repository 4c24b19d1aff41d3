"""An app-server that Codex in a pane shares with Navi, on a unix socket.

Questions are then asked both in the pane and by Navi, and the first answer counts. The socket and
the other files are in a folder in `/tmp`, because a socket's path must be short, and are named
after the pane's process.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from navi.live.agents.command_line.run_questions import RunQuestions
from navi.live.agents.driver import TurnRequest
from navi.vendors.codex.app_server.questions import CodexQuestions
from navi.vendors.codex.app_server.requests import (
    ATTACH,
    LOADED,
    attach_lines,
    loaded_threads_lines,
)

ADDRESS = "ws://localhost/"
RETRY_SECONDS = 0.1
TIMEOUT_SECONDS = 5.0
# If the server ends, Codex would try to reach it for ever, so the shell and its pane end as well.
# The shell leads the pane's session, so when it ends, the other processes get SIGHUP. The server
# would then first finish its turn, so it is killed instead.
SCRIPT = """\
socket={folder}/$$.socket pid={folder}/$$.pid
rm -f "$socket"
{{
  trap : HUP
  {server} --listen "unix://$socket" </dev/null >/dev/null 2>&1 &
  echo $! >"$pid"
  wait
  kill -KILL $!
  [ -e "$pid" ] && kill -HUP $$
}} 2>/dev/null &
while [ ! -S "$socket" ]; do sleep 0.05; done
{terminal} --remote "unix://$socket"
code=$?
server=$(cat "$pid")
rm -f "$socket" "$pid"
kill -KILL "$server"
exit $code
"""


def shared_folder() -> Path | None:
    """The folder of all sockets; None if other users could access it."""
    folder = Path(f"/tmp/navi-{os.getuid()}")
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and mode == 0o700:
            return folder
    return None


def shared_command(folder: Path, server: Sequence[str], terminal: Sequence[str]) -> list[str]:
    """The command that runs `terminal` in the foreground, with a `server` that ends with it."""
    for file in folder.iterdir():
        if file.stem.isdigit() and not _is_alive(int(file.stem)):
            file.unlink(missing_ok=True)  # left by a pane that was closed
    script = SCRIPT.format(folder=folder, server=shlex.join(server), terminal=shlex.join(terminal))
    return ["/bin/sh", "-c", script]


def server_pid(pane_pid: int) -> int | None:
    """The process id of a pane's app-server; None if it has none."""
    folder = shared_folder()
    try:
        pid = 0 if folder is None else int((folder / f"{pane_pid}.pid").read_text())
    except (OSError, ValueError):
        return None
    return pid if pid and _is_alive(pid) else None


def first_thread(pane_pid: int) -> str | None:
    """The pane's new thread, even before its first turn; None if it is not known."""
    from websockets.exceptions import WebSocketException
    from websockets.sync.client import unix_connect

    with suppress(OSError, WebSocketException, TimeoutError):
        with unix_connect(_socket(pane_pid), ADDRESS, open_timeout=TIMEOUT_SECONDS) as connection:
            for line in loaded_threads_lines():
                connection.send(line)
            while True:
                message = json.loads(connection.recv(TIMEOUT_SECONDS))
                if message.get("id") == LOADED:
                    # Ids grow with time, and Codex starts other threads only later.
                    return min((message.get("result") or {}).get("data") or (), default=None)
    return None


async def ask_in_pane(request: TurnRequest, pane_pid: int, thread: str) -> None:
    """Pass Codex's questions in the pane to a person, until its server ends."""
    from websockets.asyncio.client import unix_connect
    from websockets.exceptions import WebSocketException

    while server_pid(pane_pid) is not None:
        with suppress(OSError, WebSocketException, TimeoutError):
            async with unix_connect(_socket(pane_pid), ADDRESS, max_size=None) as connection:
                await _ask(request, connection, thread)
        await asyncio.sleep(RETRY_SECONDS)


async def _ask(request: TurnRequest, connection: Any, thread: str) -> None:
    protocol = CodexQuestions("", thread, request.context.cwd, None)
    async with RunQuestions(request, protocol, is_in_terminal=True) as questions:
        questions.follow(_Connection(connection))
        for line in attach_lines(thread):
            await connection.send(line)
        while True:
            message = await connection.recv(decode=False)
            questions.check()
            questions.read(message)
            if ATTACH.encode() in message and _is_error(message):
                return  # Codex can't attach to a new thread before its first turn


def _is_error(message: bytes) -> bool:
    response = json.loads(message)
    return response.get("id") == ATTACH and "error" in response


class _Connection:
    """Sends answers to the server, with the interface of a detached run's input."""

    output_bytes = 0

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.handed_over: set[str] = set()

    async def hand_over(self, answer_id: str, line: str) -> None:
        self.handed_over.add(answer_id)
        for each in line.splitlines():
            await self._connection.send(each)

    def end_input(self) -> None:
        """Does nothing: Codex keeps running in the pane."""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it belongs to another user
    return True


def _socket(pane_pid: int) -> str:
    return f"/tmp/navi-{os.getuid()}/{pane_pid}.socket"
