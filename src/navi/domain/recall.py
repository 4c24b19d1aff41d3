"""A session's own wake-up: what may be scheduled, and when it comes next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from navi.domain.errors import Conflict, InvalidInput, NotFound
from navi.domain.input import require_text
from navi.domain.limits import LONGEST_SECONDS, require_seconds
from navi.domain.stored_text import require_storable
from navi.domain.when import parse_duration

SHORTEST_INTERVAL_SECONDS = 1
COMMENT_LIMIT = 2_000
"""Characters: a comment is shown in every list of sessions."""
KEPT_FINISHED = 100
"""How many finished recalls of a session stay on record, the newest ones."""
LONGEST_SKIP = timedelta(seconds=2 * LONGEST_SECONDS)
"""As far ahead as skipping may move a recall: a first beat in 10 years, and one interval."""
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
    """When it fires next. Later than `due_at` while its session is busy."""
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


def skipped(recall: Recall, now: datetime) -> datetime:
    """When a recurring recall fires after its next beat was skipped."""
    if recall.interval_seconds is None:
        raise InvalidInput(
            "only a recurring recall can skip a beat", hint="cancel this one instead"
        )
    at = max(recall.trigger_at, now) + timedelta(seconds=recall.interval_seconds)
    if at - now > LONGEST_SKIP:
        raise InvalidInput(
            "it would not wake for more than 20 years", hint="cancel this recall instead"
        )
    return at


def require_call_type(text: str) -> CallType:
    try:
        return CallType(text)
    except ValueError as error:
        raise InvalidInput(
            f"there is no call_type {text!r}", hint="one of: once, recurring, immediate"
        ) from error


def require_interval(call_type: CallType, interval_seconds: int | None) -> int | None:
    if call_type is CallType.RECURRING:
        if interval_seconds is None:
            raise InvalidInput(
                "a recurring recall needs interval_seconds", hint="900 is every 15 minutes"
            )
        return require_seconds("interval_seconds", interval_seconds, SHORTEST_INTERVAL_SECONDS)
    if interval_seconds is not None:
        raise InvalidInput(
            f"interval_seconds does not go with call_type {call_type}",
            hint="leave it out, or choose call_type recurring",
        )
    return None


def require_when(call_type: CallType, when: str | None) -> str:
    """The words for its time. An immediate recall has none of its own: it is due now."""
    words = (when or "").strip()
    if call_type is CallType.IMMEDIATE:
        if words:
            raise InvalidInput(
                "when does not go with call_type immediate",
                hint="leave it out, or choose call_type once",
            )
        return "now"
    if not words:
        raise InvalidInput(
            f"a recall of type {call_type} needs when",
            hint="like 30m, 2h 15m or tomorrow at 09:00",
        )
    return words


def require_comment(comment: str | None) -> str | None:
    return None if comment is None else require_storable("internal_comment", comment, COMMENT_LIMIT)


def parse_interval(text: str, shortest: int = SHORTEST_INTERVAL_SECONDS) -> int:
    """The seconds between two beats, from a duration such as 15m."""
    seconds = parse_duration(text) // timedelta(seconds=1)
    if seconds < shortest:
        raise InvalidInput(
            f"{text!r} is too short",
            hint=f'the shortest is "{shortest}s", the longest 10 years; like "15m" or "1d"',
        )
    return seconds


_NAMES_SOMETHING = re.compile(
    r"""https?://
    | (?<![\w.])[~.]{0,2}/[\w.-]+             # /var/log, ~/notes, ./plan
    | [\w.-]{3,}/[\w.-]{3,}                   # src/navi, but not and/or
    | \b[\w-]+\.[a-z]\w{1,4}\b | \b\w{2,}\.[a-z]\b  # build.log, main.c, but not e.g. or 2.5
    | [a-z0-9]_[a-z0-9]                       # names of tools, tables and variables
    | \b(?:filesystem|terminal|cron)\b | `[^`]+`""",
    re.IGNORECASE | re.VERBOSE,
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
