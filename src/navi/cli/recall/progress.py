"""The progress of a long run, on stderr."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from navi.cli import formats, output

if TYPE_CHECKING:
    from navi.memory.ingest.report import Progress

WIDTH = 24
REDRAW_SECONDS = 0.1


class Bar:
    """A line that is redrawn; nothing is printed if stderr is not a terminal."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._drawn_at = 0.0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._drawn_at < REDRAW_SECONDS:
            return
        self._drawn_at = now
        output.status(_line(progress, now - self._started))

    def end(self) -> None:
        output.status("")


class Log:
    """A line for every file."""

    def show(self, progress: Progress) -> None:
        output.note(f"{progress.path}: {progress.outcome}")

    def end(self) -> None:
        pass


def _line(progress: Progress, seconds: float) -> str:
    share = progress.bytes / progress.all_bytes if progress.all_bytes else 1.0
    bar = "#" * round(share * WIDTH)
    rate = progress.bytes / max(seconds, 0.001)
    left = (progress.all_bytes - progress.bytes) / rate if rate else 0.0
    return (
        f"[{bar:<{WIDTH}}] {share:4.0%}  {progress.files}/{progress.all_files} files  "
        f"{formats.size(rate)}/s  {left:.0f} s left"
    )
