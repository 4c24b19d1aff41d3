"""The processes that a command started, even those that left its process group.

A process that leaves the group (`setsid`) still has its parent. One whose parent has ended too (a
double fork) still has the command's mark in its environment. A process without any of these can't
be found, and neither can any process outside the group on a system without /proc, such as macOS.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

MARK_VARIABLE = "NAVI_COMMAND_ID"
"""Set in the environment of a command, and so of everything it starts."""
SEES_ALL = os.path.exists("/proc/self/environ")
"""Whether this system lets us find processes outside the group."""
POLL_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    started: str
    """Tells it from a later process with the same id."""
    parent: int = field(compare=False)
    group: int = field(compare=False)
    name: str = field(compare=False)


def processes_of(mark: str, root: int | None, earlier: Set[Process] = frozenset()) -> set[Process]:
    """The living processes: the command, what it started, and what is left of `earlier`.

    `root` is the command's own id; None once it is reaped, when another process may have the id.
    """
    living = _living_processes()
    processes = {
        process
        for process in living.values()
        if process.pid == root or process in earlier or _is_marked(process.pid, mark)
    }
    while (
        children := {child for child in living.values() if living.get(child.parent) in processes}
        - processes
    ):
        processes |= children
    return processes


def kill_all(mark: str, root: int | None, earlier: Set[Process], seconds: float) -> set[Process]:
    """Kill a command's processes until none is left. Returns those that remain after `seconds`."""
    deadline = time.monotonic() + seconds
    while processes := processes_of(mark, root, earlier):
        if time.monotonic() > deadline:
            return processes
        earlier = earlier | processes
        send_signal(signal.SIGKILL, processes)
        time.sleep(POLL_SECONDS)
    return set()


def send_signal(number: int, processes: Iterable[Process]) -> None:
    for process in processes:
        if process == _find(process.pid):
            try:
                os.kill(process.pid, number)
            except OSError:
                pass  # it has just ended, or it is another user's


def is_any_alive(processes: Iterable[Process]) -> bool:
    return any(process == _find(process.pid) for process in processes)


def _living_processes() -> Mapping[int, Process]:
    try:
        names = os.listdir("/proc")
    except OSError:
        return {}
    processes = (_find(int(name)) for name in names if name.isdecimal())
    return {process.pid: process for process in processes if process is not None}


def _find(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            status = file.read().decode(errors="replace")
    except OSError:
        return None
    # The name in parentheses may contain anything; what follows is split by spaces.
    name = status[status.index("(") + 1 : status.rindex(")")]
    state, parent, group, *more = status[status.rindex(")") + 2 :].split()
    if state in "ZX":
        return None
    return Process(pid, more[16], int(parent), int(group), name)


def _is_marked(pid: int, mark: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK_VARIABLE}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False  # it has ended, or it is another user's
