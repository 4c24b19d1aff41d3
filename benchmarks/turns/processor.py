"""The processor time of a server.

It says more than elapsed time when other programs are running.
"""

from __future__ import annotations

import psutil

from tests.server import ServerProcess


class Stopwatch:
    """The processor time a process uses from now on."""

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
