"""Identifies this process, and tells whether another one is still alive.

A lease names its owner by host boot, process id, process start and a random part. So the next
server on the same host sees at once that a killed one is gone, before its lease ends.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from functools import cache
from pathlib import Path

from navi.base.ids import new_id


def own_identity() -> str:
    pid = os.getpid()
    return f"{_boot_id()}/{pid}/{_start_of(pid)}/{new_id()}"


def is_surely_dead(owner: str) -> bool:
    """True only if the owner ran on this machine and is gone."""
    try:
        boot, pid, start, _ = owner.split("/")
    except ValueError:
        return False
    return boot == _boot_id() and _start_of(int(pid)) != start


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        # The host's id will do: process start times change after a reboot.
        return f"{uuid.getnode():x}"


def _start_of(pid: int) -> str:
    """When the process started, as the system writes it; empty if there is no such process."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if Path("/proc/self/stat").exists() else _start_by_ps(pid)
    # The name in parentheses may contain anything, even spaces and parentheses.
    fields = status[status.rindex(")") + 2 :].split()
    state, start = fields[0], fields[19]
    return "" if state in "ZX" else start


def _start_by_ps(pid: int) -> str:
    process = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return process.stdout.strip().replace("/", "-")
