"""A session's own wake-up: what may be scheduled, and when it comes next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from navi.base.errors import Conflict, InvalidInput, NotFound
from navi.base.stored_text import require_printable
from navi.base.time_expressions import describe_moment, parse_duration
from navi.base.timestamps import instant
from navi.live.model.input import TIME_LIMIT, NewInput, Origin, require_text
from navi.live.model.scheduling.limits import LONGEST_SECONDS, require_seconds

SHORTEST_INTERVAL_SECONDS = 1
COMMENT_LIMIT = 2_000
"""Characters; the comment appears in every list of sessions."""
LONGEST_SKIP = timedelta(seconds=2 * LONGEST_SECONDS)
"""How far ahead skipping may move a recall: the first wake-up may be 10 years away, and the
interval may be as long again."""
DEFERRED_BY = timedelta(seconds=60)
"""How much later `trigger_at` becomes when a due recall's session is busy."""


class CallType(StrEnum):
    ONCE = "once"
    RECURRING = "recurring"
    IMMEDIATE = "immediate"


class RecallStatus(StrEnum):
    PENDING = "pending"
    """Its turn has not begun; its input may already be queued. A recurring recall stays pending
    until it is cancelled or replaced."""
    RUNNING = "running"
    FIRED = "fired"
    CANCELLED = "cancelled"


class Scheduler(StrEnum):
    """Who scheduled a recall."""

    AGENT = "agent"
    """The session's own agent."""
    OTHER_AGENT = "other_agent"
    PERSON = "person"


CANCELLED_OUTCOME = "cancelled"
REPLACED_OUTCOME = "replaced"
"""The outcome of a recurring recall whose own turn scheduled another recall."""


class RecallAlreadyPending(Conflict):
    kind = "recall_already_pending"

    def __init__(self, session_id: str, trigger_at: datetime, timezone: tzinfo = UTC) -> None:
        self.trigger_at = trigger_at
        super().__init__(
            f"session {session_id} is already scheduled to wake at "
            f"{describe_moment(trigger_at, timezone)}",
            hint="cancel that recall first, or wait for it",
        )


class NoPendingRecall(NotFound):
    kind = "no_pending_recall"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {session_id} has no pending recall",
            hint="schedule one, or list past recalls",
        )


@dataclass(frozen=True, slots=True)
class Recall:
    id: str
    session_id: str
    call_type: CallType
    trigger_at: datetime
    """When it is expected to fire: after `due_at` if its session was busy or hit a limit."""
    due_at: datetime
    """When it is planned to fire. A recurring recall counts its interval from here."""
    interval_seconds: int | None
    internal_comment: str | None
    additional_context_message: str
    """The instruction: what the agent is to do."""
    status: RecallStatus
    outcome: str | None
    error: str | None
    missed_count: int
    created_at: datetime
    updated_at: datetime
    scheduled_by: Scheduler = Scheduler.AGENT
    input_id: str | None = None
    """The input that the wake-up became; None until it is claimed."""


@dataclass(frozen=True, slots=True)
class ScheduledRecall:
    """`reading` says how the time was understood; `warning` may suggest a better wording."""

    recall: Recall
    reading: str
    warning: str | None
    is_open_in_terminal: bool = False
    """Whether a person's terminal has the session open, which would hold up the wake-up."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    at: datetime
    missed: int


def next_occurrence(due_at: datetime, interval_seconds: int, now: datetime) -> Occurrence:
    """The first occurrence after both `due_at` and `now`, and how many in between were missed."""
    interval = timedelta(seconds=interval_seconds)
    if now < due_at:
        return Occurrence(due_at + interval, 0)
    passed = (now - due_at) // interval
    return Occurrence(due_at + (passed + 1) * interval, passed)


def occurrences(at: datetime, interval_seconds: int) -> Iterator[datetime]:
    """All occurrences after `at`, without end."""
    while True:
        at = next_occurrence(at, interval_seconds, at).at
        yield at


def fires_after_skip(recall: Recall, now: datetime) -> datetime:
    """When a recurring recall fires if its next occurrence is skipped."""
    if recall.interval_seconds is None:
        raise InvalidInput("only a recurring recall can be skipped", hint="cancel this one instead")
    at = next_occurrence(recall.due_at, recall.interval_seconds, now).at
    if at - now > LONGEST_SKIP:
        raise InvalidInput(
            "it would not wake for more than 20 years", hint="cancel this recall instead"
        )
    return at


def recall_input(recall: Recall, time_limit_seconds: int | None = None) -> NewInput:
    """The input of a due recall. Its prompt is rendered as its turn begins."""
    limit = {} if time_limit_seconds is None else {TIME_LIMIT: time_limit_seconds}
    return NewInput(
        # Derived from the recall's instant, so the same wake-up can't be admitted twice.
        id=wake_up_id(recall.id, recall.trigger_at),
        session_id=recall.session_id,
        text=recall.additional_context_message,
        origin=Origin.RECALL,
        metadata={
            "recall_id": recall.id,
            "call_type": recall.call_type.value,
            "scheduled_by": recall.scheduled_by.value,
            "due_at": instant(recall.due_at),
            **limit,
        },
        not_before=recall.trigger_at,
    )


def wake_up_id(recall_id: str, at: datetime) -> str:
    """The id of the input of the recall's wake-up at this instant."""
    return f"{recall_id}.{int(at.timestamp() * 1000)}"


def require_interval(call_type: CallType, interval_seconds: int | None) -> int | None:
    if call_type is CallType.RECURRING:
        if interval_seconds is None:
            raise InvalidInput(
                "a recurring recall needs interval_seconds", hint="900 is every 15 minutes"
            )
        return require_seconds("interval_seconds", interval_seconds, SHORTEST_INTERVAL_SECONDS)
    if interval_seconds is not None:
        raise InvalidInput(
            f"interval_seconds can't be combined with call_type {call_type}",
            hint="leave it out, or choose call_type recurring",
        )
    return None


def require_when(call_type: CallType, when: str | None) -> str:
    """The time expression of a recall: `when`, or "now" for an immediate recall."""
    expression = (when or "").strip()
    if call_type is CallType.IMMEDIATE:
        if expression:
            raise InvalidInput(
                "when can't be combined with call_type immediate",
                hint="leave it out, or choose call_type once",
            )
        return "now"
    if not expression:
        raise InvalidInput(
            f"a recall of type {call_type} needs when",
            hint="like 30m, 2h 15m or tomorrow at 09:00",
        )
    return expression


def require_comment(comment: str | None) -> str | None:
    if comment is None:
        return None
    return require_printable("internal_comment", comment, COMMENT_LIMIT)


def parse_interval(text: str, shortest: int = SHORTEST_INTERVAL_SECONDS) -> int:
    """The interval in seconds, from a duration such as 15m."""
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
            hint="say what to do then, e.g. 'Read build.log with filesystem; report errors.'",
        )
    return require_text(text)


def instruction_warning(text: str) -> str | None:
    """Advice on the wording, if the agent may be unable to act on the text later; else None."""
    if _NAMES_SOMETHING.search(text) and not _CHATTY.match(text):
        return None
    return (
        "This may be too vague to act on later, when nobody is there to ask. Name the tool, file "
        "or URL and what to do with it, e.g. 'Read /tmp/build.log with filesystem; if it shows an "
        "error, report its last 50 lines.'"
    )
