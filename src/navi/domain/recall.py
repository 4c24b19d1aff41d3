"""A session's own wake-up: what may be scheduled, and when it comes next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from navi.domain.errors import Conflict, InvalidInput, NotFound
from navi.domain.input import require_text
from navi.domain.when import parse_duration

if TYPE_CHECKING:
    from navi.domain.turn import Ending

LIMIT = "limit"
"""The outcome of a turn that met a usage limit."""
LIMIT_PAUSE = timedelta(minutes=15)
"""How long to wait where the vendor does not say when its limit ends. Overloads pass within minutes
and most limits within hours: soon enough after either, and few enough turns in vain."""
DEFERRED_BY = timedelta(seconds=60)
"""A recall whose session is busy is moved so far; the end of the turn pulls it back."""


class CallType(StrEnum):
    ONCE = "once"
    RECURRING = "recurring"
    IMMEDIATE = "immediate"


class RecallStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    FIRED = "fired"
    CANCELLED = "cancelled"


class RecallAlreadyPending(Conflict):
    kind = "recall_already_pending"

    def __init__(self, session_id: str, trigger_at: datetime) -> None:
        super().__init__(
            f"session {session_id} already wakes at {trigger_at:%Y-%m-%d %H:%M:%S} UTC",
            hint="cancel that recall first, or wait for it",
        )


class NoPendingRecall(NotFound):
    kind = "no_pending_recall"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {session_id} has no pending recall",
            hint="schedule one, or list the past ones",
        )


@dataclass(frozen=True, slots=True)
class Recall:
    id: str
    session_id: str
    call_type: CallType
    trigger_at: datetime
    """When it fires next. Later than `due_at` while its session is busy, or after a limit."""
    due_at: datetime
    """When it was meant to fire: what a recurring recall counts its beats from."""
    interval_seconds: int | None
    internal_comment: str | None
    additional_context_message: str
    status: RecallStatus
    outcome: str | None
    error: str | None
    missed_count: int
    created_at: datetime
    updated_at: datetime

    @property
    def waits_for_limit(self) -> bool:
        """It fired, met a usage limit, and will fire again."""
        is_pending = self.status is RecallStatus.PENDING
        return is_pending and self.interval_seconds is None and self.outcome == LIMIT


@dataclass(frozen=True, slots=True)
class Beat:
    at: datetime
    missed: int


def next_beat(due_at: datetime, interval_seconds: int, now: datetime) -> Beat:
    """The first beat after `now`, counted from the planned one; and how many passed in between."""
    interval = timedelta(seconds=interval_seconds)
    if now < due_at:
        return Beat(due_at + interval, 0)
    passed = (now - due_at) // interval
    return Beat(due_at + (passed + 1) * interval, passed)


def beats(at: datetime, interval_seconds: int) -> Iterator[datetime]:
    """Those after `at`, without end."""
    while True:
        at = next_beat(at, interval_seconds, at).at
        yield at


def fires_again_at(recall: Recall, ending: Ending, now: datetime) -> datetime | None:
    """When a recall that should fire once fires again, because its turn met a usage limit."""
    if recall.interval_seconds is not None or ending.outcome != LIMIT:
        return None
    if ending.resets_at is None or ending.resets_at <= now:
        return now + LIMIT_PAUSE
    return ending.resets_at


def skipped(recall: Recall, now: datetime) -> datetime:
    """When a recurring recall fires after its next beat was skipped."""
    if recall.interval_seconds is None:
        raise InvalidInput(
            "only a recurring recall can skip a beat", hint="cancel this one instead"
        )
    return max(recall.trigger_at, now) + timedelta(seconds=recall.interval_seconds)


def require_call_type(text: str) -> CallType:
    try:
        return CallType(text)
    except ValueError as error:
        raise InvalidInput(
            f"there is no call_type {text!r}", hint="one of: once, recurring, immediate"
        ) from error


def require_interval(call_type: CallType, interval_seconds: int | None) -> int | None:
    if call_type is not CallType.RECURRING:
        return None
    if interval_seconds is None or interval_seconds <= 0:
        raise InvalidInput(
            "a recurring recall needs interval_seconds, a whole number above 0",
            hint="900 is every 15 minutes",
        )
    return interval_seconds


def parse_interval(text: str) -> int:
    """The seconds between two beats, from a duration such as 15m."""
    seconds = parse_duration(text) // timedelta(seconds=1)
    if seconds == 0:
        raise InvalidInput(f"{text!r} is no beat", hint='the shortest is "1s"; like "15m" or "1d"')
    return seconds


_NAMES_SOMETHING = re.compile(
    r"https?://|[\w.-]*/[\w./-]+|\b\w+\.\w{1,5}\b|"
    r"\b(filesystem|terminal|http_request|search_sessions|send_message|report_status|cron)\b|`[^`]+`"
)
_CHATTY = re.compile(
    r"^\s*(please\s+)?(tell|remind|inform|notify|let)\s+(the\s+)?(user|him|her|them|me)\b", re.I
)


def require_instruction(text: str) -> str:
    if not text.strip():
        raise InvalidInput(
            "additional_context_message is blank",
            hint="write what to do then, e.g. 'Read build.log with filesystem; report errors.'",
        )
    return require_text(text)


def instruction_warning(text: str) -> str | None:
    """A better wording, where an instruction is not one that can be worked on later."""
    if _NAMES_SOMETHING.search(text) and not _CHATTY.match(text):
        return None
    return (
        "This reads like a note to a person. When the recall fires, only this text is at hand: "
        "name the tool, file or URL and what to do with it, e.g. 'Read /tmp/build.log with "
        "filesystem; if it shows an error, report its last 50 lines.'"
    )
