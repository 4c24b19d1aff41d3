"""A clock that stands still until a test moves it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass
class HandClock:
    moment: datetime

    def now(self) -> datetime:
        return self.moment
