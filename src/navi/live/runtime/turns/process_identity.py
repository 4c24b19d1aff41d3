"""Who this process is, and whether another one still lives.

A lease names its owner as host boot, process id, process start and a random part. A server that
was killed is thus known to be gone as soon as the next one looks, long before its lease ends.
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
    """True only if the owner ran on this machine and does so no longer."""
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
        # Without a boot id the host's own id does: process starts tell reboots apart.
        return f"{uuid.getnode():x}"
