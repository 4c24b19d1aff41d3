"""A schedule as people and agents write it."""

from __future__ import annotations

from dataclasses import dataclass, field

SCHEDULE_FIELDS = ("at", "every_seconds", "cron_expr")
"""A schedule has exactly one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRequest:
    """Unchecked; `require_schedule` checks it."""

    at: str | None = field(
        default=None, metadata={"description": 'Once: ISO 8601, or "tomorrow at 09:00".'}
    )
    every_seconds: int | None = field(default=None, metadata={"description": "10 or more."})
    cron_expr: str | None = field(
        default=None, metadata={"description": "Five fields: minute hour day month weekday."}
    )
    tz: str | None = field(
        default=None, metadata={"description": "IANA zone for cron_expr, at and the times shown."}
    )
