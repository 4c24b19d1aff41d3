"""The progress of indexing, on stderr."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from navi.cli import formats, output

if TYPE_CHECKING:
    from navi.memory.ingest.report import Progress
    from navi.memory.semantic.vectors.backfill import BackfillProgress

WIDTH = 24
REDRAW_SECONDS = 0.1


class Bar:
    """A line that is redrawn; nothing is printed if stderr is not a terminal."""

    def __init__(self) -> None:
        self._started_at = time.monotonic()
        self._drawn_at = 0.0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._drawn_at < REDRAW_SECONDS:
            return
        self._drawn_at = now
        output.status(_line(progress, now - self._started_at))

    def end(self) -> None:
        output.status("")


class EmbeddingBar:
    """The progress of `recall index --embed`."""

    def __init__(self) -> None:
        self._started_at = time.monotonic()

    def show(self, progress: BackfillProgress) -> None:
        seconds = max(time.monotonic() - self._started_at, 0.001)
        share = progress.messages / progress.all_messages if progress.all_messages else 1.0
        rate = f"{progress.passages / seconds:.0f} passages/s"
        left = f"{formats.duration(round(seconds / share - seconds))} left" if share else ""
        output.status(f"{_bar(share)}  {progress.passages:,} passages  {rate}  {left}".rstrip())

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
    rate = progress.bytes / max(seconds, 0.001)
    left = (progress.all_bytes - progress.bytes) / rate if rate else 0.0
    return (
        f"{_bar(share)}  {progress.files}/{progress.all_files} files  "
        f"{formats.size(rate)}/s  {left:.0f} s left"
    )


def _bar(share: float) -> str:
    return f"[{'#' * round(share * WIDTH):<{WIDTH}}] {share:4.0%}"
