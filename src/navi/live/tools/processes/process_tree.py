"""The processes that a command started, even those that left its process group.

A process that leaves the group (`setsid`) still has its parent. One whose parent has ended too (a
double fork) still has `NAVI_COMMAND_ID` in its environment. A process with neither can't be found.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection, Set

from navi.base.platform import Process, living_processes, pids_with_variable

MARK_VARIABLE = "NAVI_COMMAND_ID"
"""Set in the environment of a command, and so of everything it starts."""
POLL_SECONDS = 0.005


def processes_of(mark: str, root: int | None, earlier: Set[Process] = frozenset()) -> set[Process]:
    """The command's living processes: itself, its descendants, and those left of `earlier`.

    `root` is the command's own id; None once it is reaped, when another process may have the id.
    """
    living = living_processes()
    marked = pids_with_variable(MARK_VARIABLE, mark)
    processes = {
        process
        for process in living.values()
        if process.pid == root or process in earlier or process.pid in marked
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


def send_signal(number: int, processes: Collection[Process]) -> None:
    for process in _living_of(processes):
        try:
            os.kill(process.pid, number)
        except OSError:
            pass  # it has just ended, or it belongs to another user


def is_any_alive(processes: Collection[Process]) -> bool:
    return bool(_living_of(processes))


def _living_of(processes: Collection[Process]) -> list[Process]:
    """Those that are still alive. A process that merely has the same id does not count."""
    living = living_processes([process.pid for process in processes])
    return [process for process in processes if living.get(process.pid) == process]
