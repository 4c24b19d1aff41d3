"""Time is passed in, so that no decision depends on when a test runs."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime:
        """The current instant, aware and in UTC."""
