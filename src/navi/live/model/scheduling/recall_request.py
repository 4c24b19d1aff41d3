"""A request to schedule a recall."""

from __future__ import annotations

from dataclasses import dataclass, field

from navi.live.model.scheduling.recall import CallType


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallTime:
    """The first wake-up, and the interval between the following ones."""

    when: str | None = field(
        default=None, metadata={"description": "The first wake-up, for once and recurring."}
    )
    tz: str | None = field(
        default=None, metadata={"description": "The person's IANA zone, like Europe/Paris."}
    )
    timezone_offset: str | None = field(
        default=None, metadata={"description": "±HH:MM, instead of tz."}
    )
    interval_seconds: int | None = field(
        default=None, metadata={"description": "Seconds between wake-ups, for recurring."}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest(RecallTime):
    # Not strict, because JSON has no enums.
    call_type: CallType = field(metadata={"strict": False})
    additional_context_message: str = field(metadata={"description": "What to do after waking up."})
    internal_comment: str | None = field(
        default=None, metadata={"description": "A note for people; the agent doesn't see it."}
    )
