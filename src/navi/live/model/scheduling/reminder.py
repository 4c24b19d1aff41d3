"""Nudges for an agent that has not reported, and one-off reminders: when each is due."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from navi.base.errors import InvalidInput, NotFound
from navi.base.timestamps import instant
from navi.live.model.input import DeliveryMode, NewInput, Origin

SOFT_TEXT = '[sm remind] Update your status: sm status "your current progress"'
HARD_TEXT = '[sm remind] Status overdue. Run: sm status "your current progress"'
RESUME_TEXT = f"{HARD_TEXT}. Then continue the task you were working on."
"""The hard nudge for an agent whose turn it interrupts."""
LONGEST_SECONDS = 366 * 86_400
LONGEST_COMPACTION = timedelta(seconds=300)
"""Nothing is sent to an agent that is compacting its history. A compaction that never reports its
end is assumed to be over after this."""


class Nudge(StrEnum):
    NONE = "none"
    SOFT = "soft"
    HARD = "hard"


class NoRegistration(NotFound):
    kind = "no_reminder"

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {session_id} is not being reminded",
            hint="it may have finished, or its reminders were already stopped",
        )


class CannotReport(InvalidInput):
    kind = "cannot_report"

    def __init__(self, title: str) -> None:
        super().__init__(
            f"{title} can't be reminded periodically: it runs a program in tmux that Navi "
            "doesn't know, so Navi can't tell when it is done",
            hint="leave out the reminder, or send one text later with POST /scheduler/remind",
        )


class ReminderNotFound(NotFound):
    kind = "reminder_not_found"

    def __init__(self, reminder_id: str) -> None:
        super().__init__(
            f"there is no pending reminder {reminder_id}", hint="it may have arrived already"
        )


@dataclass(frozen=True, slots=True)
class Registration:
    """A session's periodic reminder. At most one per session is active."""

    id: str
    target_session_id: str
    soft_threshold_seconds: int
    hard_threshold_seconds: int
    registered_at: datetime
    last_reset_at: datetime
    """When the round began: with the task, a report, a hard nudge or the end of a compaction."""
    soft_fired: bool = False
    hard_fired: bool = False
    """Never stored as true, because a hard nudge starts a new round."""
    is_active: bool = True

    @property
    def due_at(self) -> datetime:
        """When the next nudge is due."""
        seconds = self.hard_threshold_seconds if self.soft_fired else self.soft_threshold_seconds
        return self.last_reset_at + timedelta(seconds=seconds)

    def reset(self, at: datetime) -> Registration:
        """A new round, starting at `at`."""
        return replace(self, last_reset_at=at, soft_fired=False, hard_fired=False)


class ReminderStatus(StrEnum):
    PENDING = "pending"
    FIRED = "fired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Reminder:
    """A message delivered to a session once, at its time."""

    id: str
    session_id: str
    message: str
    fires_at: datetime
    status: ReminderStatus
    created_at: datetime
    updated_at: datetime

    @property
    def due_at(self) -> datetime:
        return self.fires_at


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The server's defaults, in seconds without a report.

    The nudge after `soft` waits for the running turn to end; the one `hard_gap` later interrupts
    it.
    """

    soft: int = 180
    hard_gap: int = 120

    def of(
        self, soft: int | None = None, hard: int | None = None, *, name: str = "soft_threshold"
    ) -> tuple[int, int]:
        """The soft and hard thresholds of a task. `name` is the caller's name for the soft one."""
        soft = _require_threshold(name, self.soft if soft is None else soft)
        hard = _require_threshold("hard_threshold", soft + self.hard_gap if hard is None else hard)
        if hard <= soft:
            raise InvalidInput(
                f"the hard threshold, {hard} s, must be after the soft one, {soft} s",
                hint=f"leave it out to use {soft + self.hard_gap} s",
            )
        return soft, hard


def nudge_due(registration: Registration, now: datetime) -> Nudge:
    silence = (now - registration.last_reset_at).total_seconds()
    if silence >= registration.hard_threshold_seconds:
        return Nudge.HARD
    if silence >= registration.soft_threshold_seconds and not registration.soft_fired:
        return Nudge.SOFT
    return Nudge.NONE


def after_nudge(registration: Registration, nudge: Nudge, now: datetime) -> Registration:
    match nudge:
        case Nudge.HARD:
            return registration.reset(now)
        case Nudge.SOFT:
            return replace(registration, soft_fired=True)
    return registration


def nudge_input(registration: Registration, nudge: Nudge, *, interrupts: bool) -> NewInput:
    """`interrupts` says whether a turn is running, which a hard nudge would end."""
    is_hard = nudge is Nudge.HARD
    text = SOFT_TEXT
    if is_hard:
        text = RESUME_TEXT if interrupts else HARD_TEXT
    round_ = int(registration.last_reset_at.timestamp() * 1_000_000)
    return NewInput(
        # Derived from the round, so the same nudge can't be admitted twice.
        id=f"{registration.id}.{nudge.value}.{round_}",
        session_id=registration.target_session_id,
        text=text,
        delivery_mode=DeliveryMode.URGENT if is_hard else DeliveryMode.IMPORTANT,
        origin=Origin.REMINDER,
        metadata={"registration_id": registration.id, "nudge": nudge.value},
    )


def is_soft_nudge(input: NewInput) -> bool:
    return input.origin is Origin.REMINDER and input.metadata.get("nudge") == Nudge.SOFT.value


def reminder_input(reminder: Reminder) -> NewInput:
    return NewInput(
        id=f"{reminder.id}.reminder",
        session_id=reminder.session_id,
        text=f"[sm remind] {reminder.message}",
        delivery_mode=DeliveryMode.URGENT,
        origin=Origin.REMINDER,
        metadata={"reminder_id": reminder.id, "fires_at": instant(reminder.fires_at)},
    )


def require_delay(seconds: float) -> timedelta:
    if not 0 < seconds <= LONGEST_SECONDS:
        raise InvalidInput(
            f"a delay of {seconds:g} seconds is not possible",
            hint="use more than 0 and at most a year; to send it now, send an ordinary message",
        )
    return timedelta(seconds=seconds)


def _require_threshold(name: str, value: int) -> int:
    if not 0 < value <= LONGEST_SECONDS:
        raise InvalidInput(
            f"{name} is {value}",
            hint=f"use a number of seconds from 1 to {LONGEST_SECONDS} (a year)",
        )
    return value
