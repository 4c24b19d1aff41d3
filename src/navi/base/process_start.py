"""When a process started, which distinguishes it from a later one with the same id."""

from __future__ import annotations

import subprocess
from pathlib import Path


def process_start(pid: int) -> str:
    """When it started, in the system's own format; empty if there is no such process."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "" if Path("/proc/self/stat").exists() else _start_from_ps(pid)
    # The name in parentheses may contain anything, spaces included.
    fields = status[status.rindex(")") + 2 :].split()
    state, start = fields[0], fields[19]
    return "" if state in "ZX" else start


def _start_from_ps(pid: int) -> str:
    listing = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return listing.stdout.strip().replace("/", "-")
