"""How long a turn may take, not counting the time in which it waits for a person."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class TimeLimit:
    """Use `deadline` around the turn, and `paused` around each wait. Waits may overlap."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.deadline = asyncio.timeout(seconds)
        self._waits = 0
        self._seconds_left: float | None = None

    @property
    def has_passed(self) -> bool:
        return self.deadline.expired()

    @contextmanager
    def paused(self) -> Iterator[None]:
        now = asyncio.get_running_loop().time
        self._waits += 1
        if self._waits == 1 and (ends_at := self.deadline.when()) is not None:
            self._seconds_left = ends_at - now()
            self.deadline.reschedule(None)
        try:
            yield
        finally:
            self._waits -= 1
            if self._waits == 0 and self._seconds_left is not None and not self.has_passed:
                self.deadline.reschedule(now() + self._seconds_left)
                self._seconds_left = None
