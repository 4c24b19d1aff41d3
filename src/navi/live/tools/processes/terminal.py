"""Runs a command with the shell, in the session's folder."""

from __future__ import annotations

import codecs
import errno
import os
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping, Set
from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from navi.base.errors import NaviError, NotFound, TooLarge
from navi.base.platform import CAN_READ_ALL_ENVIRONMENTS, Process
from navi.live.model.tool import ToolContext, ToolResult
from navi.live.tools.argument_types import Arguments, NonBlank
from navi.live.tools.files.decoded_text import REPLACEMENT
from navi.live.tools.processes.process_group import ProcessGroup

# How long to keep reading after the shell has ended, in case background processes print more. The
# shell's own output arrives at once.
DRAIN_SECONDS = 0.2
MAXIMUM_TIMEOUT_SECONDS = 600


class TerminalArguments(Arguments):
    command: NonBlank = Field(description="the command, for `bash -c`")
    timeout_seconds: float | None = Field(
        None, gt=0, le=MAXIMUM_TIMEOUT_SECONDS, description="how long it may run"
    )


async def bare_environment(session_id: str) -> Mapping[str, str]:
    """The minimum a shell needs."""
    return {"PATH": os.environ.get("PATH", os.defpath), "NAVI_SESSION_ID": session_id}


@dataclass(frozen=True, slots=True)
class Terminal:
    """When a call times out or is cancelled, the processes it started are ended, as far as
    process_tree.py can find them. After a command that ends by itself, its background
    processes keep running."""

    default_timeout_seconds: float = 120
    output_limit_characters: int = 30_000
    # The time between asking the processes to end and killing them.
    grace_seconds: float = 2.0
    environment: Callable[[str], Awaitable[Mapping[str, str]]] = bare_environment
    """The environment of a session's commands, by the session's id."""

    name: ClassVar[str] = "terminal"
    arguments: ClassVar[type[TerminalArguments]] = TerminalArguments

    @property
    def description(self) -> str:
        return (
            "Runs a bash command in the session's folder and returns its output, stdout and "
            "stderr together. There is no terminal to type into. After `timeout_seconds` (default "
            f"{self.default_timeout_seconds:g}, at most {MAXIMUM_TIMEOUT_SECONDS}) the command and "
            "the processes it started are ended, as far as they can be found. A background "
            "process must redirect its output: `server >server.log 2>&1 &`."
        )

    async def run(self, context: ToolContext, arguments: TerminalArguments) -> ToolResult:
        timeout = arguments.timeout_seconds or self.default_timeout_seconds
        output = _Output(self.output_limit_characters)
        group = _start(context, arguments.command, await self.environment(context.session_id))
        try:
            group.listen(output.add)
            was_in_time = await group.wait_for_end(timeout)
            survivors: Set[Process] = frozenset()
            if not was_in_time:
                survivors = await group.end(self.grace_seconds)
            is_complete = await group.wait_for_output_end(DRAIN_SECONDS)
        except BaseException:
            await group.end(self.grace_seconds)
            raise
        finally:
            # Only now: a process that cleans up may still print, and a closed pipe would end it.
            group.stop_listening()
        if not was_in_time:
            return _timeout_result(output.text(), timeout, survivors)
        return _exit_result(output.text(), group.process.returncode, is_complete)


class _Output:
    """Accepts all output, but keeps only its beginning and end."""

    def __init__(self, limit: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._head_limit, self._tail_limit = limit - limit // 2, limit // 2
        self._head, self._tail, self._left_out = "", "", 0

    def add(self, data: bytes) -> None:
        self._add(self._decoder.decode(data))

    def text(self) -> str:
        self._add(self._decoder.decode(b"", final=True))
        note = f"\n[{self._left_out:,} characters left out]\n" if self._left_out else ""
        return self._head + note + self._tail

    def _add(self, text: str) -> None:
        text = text.replace("\0", REPLACEMENT)  # PostgreSQL can't store NUL in text
        room = self._head_limit - len(self._head)
        self._head += text[:room]
        tail = self._tail + text[room:]
        excess = max(0, len(tail) - self._tail_limit)
        self._tail = tail[excess:]
        self._left_out += excess


def _start(context: ToolContext, command: str, environment: Mapping[str, str]) -> ProcessGroup:
    if not context.cwd.is_dir():
        raise NotFound(f"the session's folder {context.cwd} does not exist", hint="create it again")
    shell = "/bin/bash" if os.path.exists("/bin/bash") else shutil.which("bash") or "/bin/sh"
    try:
        return ProcessGroup.start([shell, "-c", command], context.cwd, environment)
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise TooLarge(
                "the command is too long for the operating system",
                hint="write it to a file and run that",
            ) from error
        raise NaviError(
            f"the command could not be started: {error.strerror}", hint="try again later"
        ) from error


def _timeout_result(output: str, seconds: float, survivors: Set[Process]) -> ToolResult:
    note = "" if CAN_READ_ALL_ENVIRONMENTS else "; processes that it detached may still be running"
    if survivors:
        names = ", ".join(
            f"{process.name} ({process.pid})"
            for process in sorted(survivors, key=lambda process: process.pid)
        )
        note = f"; these processes could not be ended: {names}"
    unit = "second" if seconds == 1 else "seconds"
    return ToolResult(
        f"{_whole_lines(output)}ended because it ran longer than {seconds:g} {unit}{note}; raise "
        "timeout_seconds, or run it in the background with its output in a file",
        is_error=True,
    )


def _exit_result(output: str, code: int, is_complete: bool) -> ToolResult:
    if not is_complete:
        output = (
            f"{_whole_lines(output)}[a background process is still running. Its further output is "
            "lost, and printing may end it: redirect its output to a file]\n"
        )
    if code == 0:
        return ToolResult(output or "(no output)")
    if code < 0:  # ended by a signal, which a shell reports as 128 plus its number
        output = f"{_whole_lines(output)}ended by {_signal_name(-code)}"
        code = 128 - code
    return ToolResult(f"{_whole_lines(output)}exit code {code}", is_error=True)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # the real-time signals have no names
        return f"signal {number}"


def _whole_lines(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
