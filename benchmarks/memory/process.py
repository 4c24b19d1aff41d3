"""Runs a command and measures its time, processor time and memory, including child processes."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

SAMPLE_SECONDS = 0.02
MEGABYTE = 1_000_000

Command = Sequence[str | Path]


class CommandFailed(Exception):
    pass


@dataclass(frozen=True, slots=True)
class RunResult:
    seconds: float
    processor_seconds: float
    """Of the process and of all children that it waited for."""
    peak_mb: float
    """The highest resident memory of all its processes together; 0 unless `is_watched`."""
    output: str

    @property
    def cores(self) -> float:
        return self.processor_seconds / self.seconds


def run(
    command: Command,
    environment: Mapping[str, str],
    *,
    is_watched: bool = False,
    folder: Path | None = None,
    seconds: float = 600,
) -> RunResult:
    """Run the command to its end. `is_watched` samples its memory, which slows short commands."""
    started_at = time.perf_counter()
    process = subprocess.Popen(
        [str(word) for word in command],
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    outputs: dict[str, bytes] = {}
    readers = [_reading(process, name, outputs) for name in ("stdout", "stderr")]
    watch = _Watch(process.pid) if is_watched else None
    alarm = threading.Timer(seconds, _end, [process.pid])
    alarm.daemon = True  # an interrupted benchmark does not wait for it
    alarm.start()
    try:
        # Unlike `Popen.wait`, it reports the usage of just this process and its children.
        _, status, used = os.wait4(process.pid, 0)
        ended_at = time.perf_counter()
    finally:
        alarm.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    for reader in readers:
        reader.join()
    if process.returncode != 0:
        why = outputs["stderr"].decode(errors="replace")[-2_000:]
        raise CommandFailed(f"{' '.join(map(str, command))}: {process.returncode}: {why}")
    return RunResult(
        seconds=ended_at - started_at,
        processor_seconds=used.ru_utime + used.ru_stime,
        peak_mb=0.0 if watch is None else watch.end(),
        output=outputs["stdout"].decode(errors="replace"),
    )


def _reading(
    process: subprocess.Popen[bytes], name: str, outputs: dict[str, bytes]
) -> threading.Thread:
    def read() -> None:
        outputs[name] = getattr(process, name).read()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def _end(pid: int) -> None:
    try:
        process = psutil.Process(pid)
        for each in (*process.children(recursive=True), process):
            each.kill()
    except psutil.NoSuchProcess:
        pass


class _Watch:
    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def end(self) -> float:
        self._is_over.set()
        self._thread.join()
        return self._peak / MEGABYTE

    def _sample(self) -> None:
        try:
            process = psutil.Process(self._pid)
            while not self._is_over.wait(SAMPLE_SECONDS):
                total = 0
                for each in (process, *process.children(recursive=True)):
                    try:
                        total += each.memory_info().rss
                    except psutil.NoSuchProcess:
                        continue
                self._peak = max(self._peak, total)
        except psutil.NoSuchProcess:
            return
