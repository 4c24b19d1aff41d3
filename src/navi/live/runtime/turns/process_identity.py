"""Names this process, and checks whether another one is still alive.

An owner's name consists of the host's boot id, the process's id and start time, and a random part.
So a server on the same host can tell at once that another one was killed, and need not wait for
its lease to expire.
"""

from __future__ import annotations

import os
import uuid
from functools import cache

from navi.base.ids import new_id
from navi.base.platform import boot_id, process_start


def own_identity() -> str:
    pid = os.getpid()
    return f"{_boot_id()}/{pid}/{process_start(pid)}/{new_id()}"


def is_surely_dead(owner: str) -> bool:
    """True only if the owner ran on this machine and is gone."""
    try:
        boot, pid, start, _ = owner.split("/")
    except ValueError:
        return False
    try:
        return boot == _boot_id() and process_start(int(pid)) != start
    except OSError:  # the system doesn't show the process
        return False


@cache
def _boot_id() -> str:
    # The host's id will do: process start times change after a reboot.
    return boot_id() or f"{uuid.getnode():x}"
