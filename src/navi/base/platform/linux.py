"""Linux: processes through /proc, services through systemd."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from typing import Literal

from navi.base.platform.process import Process

SERVICE_MANAGER: Literal["systemd", "launchd"] = "systemd"
CAN_READ_ALL_ENVIRONMENTS = os.path.exists("/proc/self/environ")
"""Whether `pids_with_variable` finds every process of this user."""
OTHERS_RECORD_SAME_START = True
"""Whether other programs, such as Claude Code, record a process's start in the format of
`process_start`, so that the two can be compared."""


def process_start(pid: int) -> str:
    """When the process started, in the system's own format; empty if it is not alive."""
    process = _find(pid)
    return "" if process is None else process.started


def boot_id() -> str:
    """An id that changes whenever the machine starts; empty if unknown."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


def living_processes(pids: Collection[int] | None = None) -> dict[int, Process]:
    """The processes among `pids` that are alive, by id; by default all processes."""
    processes = (_find(pid) for pid in (_all_pids() if pids is None else pids))
    return {process.pid: process for process in processes if process is not None}


def pids_with_variable(name: str, value: str) -> set[int]:
    """The processes that were started with this variable in their environment."""
    entry = f"{name}={value}".encode()
    return {pid for pid in _all_pids() if entry in _environment(pid)}


def open_files(pid: int) -> list[str]:
    """The files that a process has open; empty if it has ended or is another user's."""
    folder = f"/proc/{pid}/fd"
    files = []
    try:
        for name in os.listdir(folder):
            try:
                files.append(os.readlink(f"{folder}/{name}"))
            except OSError:
                pass  # closed by now
    except OSError:
        pass
    return files


def all_open_files() -> Iterator[tuple[int, str]]:
    """Pairs of a process id and a file that the process has open: one for each open file."""
    for pid in _all_pids():
        for file in open_files(pid):
            yield pid, file


def has_default_acl(folder: int) -> bool:
    """Whether the folder has a default ACL, which sets the permissions of new files in it.

    `folder` is a file descriptor.
    """
    try:
        # Through /proc, because fgetxattr rejects a descriptor opened with O_PATH.
        os.getxattr(f"/proc/self/fd/{folder}", "system.posix_acl_default")
    except OSError:
        return False
    return True


def has_desktop(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether a person would see a browser that is opened here."""
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def open_page(uri: str) -> None:
    """Open a page in the person's browser."""
    import webbrowser

    webbrowser.open(uri)


def notification_command(title: str, text: str) -> list[str]:
    """The command that shows a notification on the desktop."""
    return ["notify-send", "--app-name=Navi", "--", title, text]


def _all_pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return []


def _find(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            status = file.read().decode(errors="replace")
    except OSError:
        return None
    # The name in parentheses may itself contain spaces and parentheses.
    name = status[status.index("(") + 1 : status.rindex(")")]
    state, parent, group, *more = status[status.rindex(")") + 2 :].split()
    if state in "ZX":
        return None
    started = more[16]  # field 22 of proc(5)
    return Process(pid, started, int(parent), int(group), name)


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []  # it has ended, or it is another user's
