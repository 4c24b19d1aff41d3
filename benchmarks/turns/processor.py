"""A server's processor time and memory.

When other programs are running, processor time says more than elapsed time.
"""

from __future__ import annotations

import psutil

from tests.server import ServerProcess


class Stopwatch:
    """Measures the processor time that a process uses after this is created."""

    def __init__(self, pid: int) -> None:
        self._process = psutil.Process(pid)
        self._before = self._taken()

    def seconds(self) -> float:
        return self._taken() - self._before

    def _taken(self) -> float:
        times = self._process.cpu_times()
        return float(times.user + times.system)


def resident_mb(server: ServerProcess) -> float:
    return float(psutil.Process(server.process.pid).memory_info().rss) / 1e6
