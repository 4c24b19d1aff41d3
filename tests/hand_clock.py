"""A clock that stands still until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass
class HandClock:
    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def move(self, **by: float) -> None:
        """Move the clock forwards or backwards; takes the arguments of a timedelta."""
        self.moment += timedelta(**by)
