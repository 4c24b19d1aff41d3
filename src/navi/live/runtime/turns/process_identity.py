"""Identifies this process, and tells whether another one is still alive.

A lease names its owner by host boot, process id, process start and a random part. So the next
server on the same host sees at once that a killed one is gone, and need not wait for its lease.
"""

from __future__ import annotations

import os
import uuid
from functools import cache
from pathlib import Path

from navi.base.ids import new_id
from navi.base.process_start import process_start


def own_identity() -> str:
    pid = os.getpid()
    return f"{_boot_id()}/{pid}/{process_start(pid)}/{new_id()}"


def is_surely_dead(owner: str) -> bool:
    """True only if the owner ran on this machine and is gone."""
    try:
        boot, pid, start, _ = owner.split("/")
    except ValueError:
        return False
    return boot == _boot_id() and process_start(int(pid)) != start


@cache
def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        # The host's id will do: process start times change after a reboot.
        return f"{uuid.getnode():x}"
