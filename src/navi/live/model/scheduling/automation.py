"""A scheduled turn that belongs to a session, and which of its occurrences run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from navi.base.errors import Conflict, InvalidInput, NotAllowed, NotFound
from navi.base.stored_text import require_line
from navi.base.timestamps import instant
from navi.live.model.input import TIME_LIMIT, NewInput, Origin, require_text
from navi.live.model.permission_policy import ON_PERMISSION, OnPermission
from navi.live.model.question_deadline import QUESTION_DEADLINE
from navi.live.model.scheduling.limits import require_count, require_seconds
from navi.live.model.scheduling.schedule import At, Schedule
from navi.live.model.turn import Outcome

ON_TIME = timedelta(seconds=60)
"""A run at most this late counts as on time: it is neither skipped nor expired."""
HIDDEN_PREFIX = "cron:"
NAME_LIMIT = 200


class Kind(StrEnum):
    AGENT_TURN = "agent_turn"
    SYSTEM_EVENT = "system_event"
    HEARTBEAT = "heartbeat"
    DREAM = "dream"


BUILT_IN_KINDS = frozenset({Kind.HEARTBEAT, Kind.DREAM})
"""The kinds built into Navi; settings of the same names switch them on and off."""


class Category(StrEnum):
    BOUND = "bound"
    """Belongs to a session: each run is a turn of that session."""
    LEGACY = "legacy"
    """Imported from an older system: runs in a hidden session of its own, and delivers only
    answers worth reading."""
    SYSTEM = "system"
    """Built into Navi, or imported from an older system as a system event."""


class CatchUp(StrEnum):
    """What to do about occurrences missed while no server was running."""

    ONCE = "once"
    SKIP = "skip"
    ALL = "all"


class RunState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    TURN_COMPLETED = "turn_completed"
    FAILED = "failed"
    MISSED = "missed"
    CANCELLED = "cancelled"


class Delivery(StrEnum):
    """What became of a hidden session's answer."""

    PENDING = "pending"
    DELIVERED = "delivered"
    NOT_WORTH_IT = "not_worth_it"
    IMPOSSIBLE = "impossible"


class Ended(StrEnum):
    """Why an automation no longer runs, other than because a person paused it."""

    DONE = "done"
    EXPIRED = "expired"
    FAILED = "failed"
    SESSION_ENDED = "session_ended"


class AutomationNotFound(NotFound):
    kind = "automation_not_found"

    def __init__(self, automation_id: str) -> None:
        super().__init__(
            f"there is no automation {automation_id}", hint="`sm automation list` shows yours"
        )


class RunNotFound(NotFound):
    kind = "run_not_found"

    def __init__(self, run_id: str) -> None:
        super().__init__(
            f"there is no run {run_id}", hint="only the last runs of an automation are kept"
        )


class SystemAutomation(NotAllowed):
    kind = "system_automation"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is built into Navi and can't be changed or removed", hint=_switch_hint(name)
        )


class HiddenSession(NotAllowed):
    kind = "hidden_session"

    def __init__(self, session_id: str) -> None:
        automation_id = session_id.removeprefix(HIDDEN_PREFIX)
        is_built_in = automation_id in BUILT_IN_KINDS
        super().__init__(
            f"session {session_id} belongs to automation {automation_id}: it can't take other "
            "work, be ended or be deleted",
            hint=_switch_hint(automation_id)
            if is_built_in
            else f"`sm automation remove {automation_id}` ends the automation",
        )


class InsideScheduledTurn(Conflict):
    kind = "inside_automation"

    def __init__(self) -> None:
        super().__init__(
            "the turn of an automation or a recall can't create or reschedule automations",
            hint="they could multiply; to wake this session again, use schedule_recall or "
            "`sm recall`",
        )


@dataclass(frozen=True, slots=True)
class BlockingAutomation:
    id: str
    name: str
    enabled: bool
    ended: Ended | None
    """Why it no longer runs; None if it does, or if a person paused it."""

    @property
    def state_words(self) -> str:
        if self.enabled:
            return "scheduled"
        return "paused" if self.ended is None else self.ended.replace("_", " ")


class BlockedByAutomations(Conflict):
    kind = "blocked_by_automations"

    def __init__(self, session_id: str, automations: list[BlockingAutomation]) -> None:
        names = ", ".join(
            f"{automation.name} ({automation.state_words})" for automation in automations
        )
        super().__init__(
            f"session {session_id} has automations that would be deleted with it: {names}",
            hint="delete it with ?delete_automations=true to delete them too",
        )
        self.automations = automations


@dataclass(frozen=True, slots=True)
class Guards:
    """Limits that keep an automation from running forever, or for too long."""

    max_runs: int | None = None
    expires_at: datetime | None = None
    max_failures: int = 5
    """Failures in a row after which the automation ends."""
    time_limit_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Where a legacy automation sends its answers. Empty for all others."""

    channel: str | None = None
    to: str | None = None
    channel_meta: Mapping[str, Any] = field(default_factory=dict)
    deliver: bool = False


@dataclass(frozen=True, slots=True)
class Automation:
    id: str
    user_id: str
    name: str
    kind: Kind
    session_key: str | None
    schedule: Schedule
    message: str
    enabled: bool
    catch_up: CatchUp
    guards: Guards
    target: Target
    next_run_at: datetime | None
    created_at: datetime
    updated_at: datetime
    held_at: datetime | None = None
    """The due time of an occurrence that waits for the previous run to end (`CatchUp.ALL`)."""
    last_run_at: datetime | None = None
    last_status: str | None = None
    """How the last run's turn ended: ok, denied, error, cancelled or limit."""
    last_error: str | None = None
    ended: Ended | None = None
    active_run_state: RunState | None = None
    """`queued` or `running` if it has a run in that state, otherwise None."""
    run_count: int = 0
    failures_in_row: int = 0
    missed_count: int = 0
    on_permission: OnPermission | None = None
    """What happens when its turns need permission; None to use its session's policy."""
    question_deadline_minutes: int | None = None
    """How long questions of its turns wait, 0 forever; None to wait as long as its session's."""

    @property
    def category(self) -> Category:
        if self.kind is not Kind.AGENT_TURN:
            return Category.SYSTEM
        return Category.LEGACY if self.session_key is None else Category.BOUND

    @property
    def is_built_in(self) -> bool:
        """Whether it is built into Navi, in which case only the settings can change it."""
        return self.kind in BUILT_IN_KINDS

    @property
    def session_id(self) -> str:
        """Where its turns run: the session it belongs to, or its own hidden one."""
        return self.session_key or hidden_session_id(self.id)


@dataclass(frozen=True, slots=True)
class Run:
    id: str
    automation_id: str
    session_id: str
    user_id: str
    state: RunState
    due_at: datetime
    queued_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    """How its turn ended."""
    prompt_ref: Mapping[str, Any] | None = None
    rendered_prompt: str | None = None
    prompt_variables: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    """The permission policy under which it ran."""
    error: str | None = None
    response_message_id: str | None = None
    missed_count: int = 0
    """Occurrences missed before or during this run. A missed run stands for one or more of them."""
    delivery: Delivery | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """What happens to the due occurrences: at most one runs; the others are missed or, with
    `CatchUp.ALL`, follow later."""

    run_due_at: datetime | None
    """When the occurrence that runs was due; None if all are missed."""
    missed: int
    next_run_at: datetime | None
    ended: Ended | None
    """Why no occurrence follows; None if `next_run_at` is set."""


def plan(automation: Automation, now: datetime) -> Plan:
    """The plan for an automation that is due. Ignores `max_runs`."""
    due_at, schedule, guards = automation.next_run_at, automation.schedule, automation.guards
    assert due_at is not None
    until = now if guards.expires_at is None else min(now, guards.expires_at)
    is_expired = now - until > ON_TIME
    run_due_at: datetime | None
    if automation.catch_up is CatchUp.ALL and not is_expired:
        run_due_at, missed, planned_until = due_at, 0, due_at
    else:
        latest = max(due_at, schedule.latest(until))
        count = schedule.count_occurrences(due_at, latest)
        is_skipped = automation.catch_up is CatchUp.SKIP and now - latest > ON_TIME
        is_missed = is_expired or is_skipped
        run_due_at = None if is_missed else latest
        missed, planned_until = count if is_missed else count - 1, now
    following = schedule.next_after(max(planned_until, due_at))
    if following is None:
        return Plan(run_due_at, missed, None, Ended.DONE)
    if guards.expires_at is not None and following > guards.expires_at:
        return Plan(run_due_at, missed, None, Ended.EXPIRED)
    return Plan(run_due_at, missed, following, None)


def planned_run(automation: Automation, decision: Plan, now: datetime) -> Run:
    """The run to record: queued if an occurrence runs, missed if none does."""
    due_at = decision.run_due_at or automation.next_run_at
    assert due_at is not None
    is_missed = decision.run_due_at is None
    return Run(
        id=run_id(automation.id, due_at),
        automation_id=automation.id,
        session_id=automation.session_id,
        user_id=automation.user_id,
        state=RunState.MISSED if is_missed else RunState.QUEUED,
        due_at=due_at,
        queued_at=now,
        ended_at=now if is_missed else None,
        missed_count=decision.missed,
    )


def end_reason(automation: Automation, now: datetime) -> Ended:
    """Why an automation has no more runs after the one that just ended."""
    guards = automation.guards
    is_over = automation.schedule.next_after(now) is None
    if is_over or guards.expires_at is None or automation.run_count == guards.max_runs:
        return Ended.DONE
    return Ended.EXPIRED


TEXT_PREFIX = "Scheduled automation triggered: "


def automation_input(automation: Automation, run: Run) -> NewInput:
    """The input of a run. Both have the same id, so the run can't be admitted twice."""
    limit, policy = automation.guards.time_limit_seconds, automation.on_permission
    deadline = automation.question_deadline_minutes
    return NewInput(
        id=run.id,
        session_id=automation.session_id,
        text=f"{TEXT_PREFIX}{automation.name}\n\n{automation.message}".strip(),
        origin=Origin.AUTOMATION,
        metadata={
            "_automation_trigger": True,
            "automation_id": automation.id,
            "automation_name": automation.name,
            "automation_run_id": run.id,
            "due_at": instant(run.due_at),
            "missed_count": run.missed_count,
            **({} if limit is None else {TIME_LIMIT: limit}),
            **({} if policy is None else {ON_PERMISSION: policy.value}),
            **({} if deadline is None else {QUESTION_DEADLINE: deadline}),
        },
        not_before=run.due_at,
    )


def status_after(outcome: Outcome) -> str:
    """The automation's `last_status` after a turn with this outcome."""
    return "cancelled" if outcome is Outcome.STOPPED else outcome.value


def failures_after(outcome: Outcome, failures_in_row: int) -> int:
    """Failures in a row: an error adds one; a stopped, denied or limited turn changes nothing; any
    other resets them."""
    match outcome:
        case Outcome.ERROR:
            return failures_in_row + 1
        case Outcome.STOPPED | Outcome.DENIED | Outcome.LIMIT:
            return failures_in_row
    return 0


def first_run(schedule: Schedule, now: datetime) -> datetime:
    """When an automation with this schedule first runs. Refuses a time in the past."""
    is_now = isinstance(schedule, At) and schedule.at == now
    following = now if is_now else schedule.next_after(now)
    if following is None:
        raise InvalidInput(
            "its time is in the past",
            hint="give it a new time with at, every_seconds or cron_expr",
        )
    return following


def require_open_guards(automation: Automation, next_run_at: datetime) -> None:
    """Refuses an automation whose guards would prevent its next run."""
    guards = automation.guards
    if guards.max_runs is not None and automation.run_count >= guards.max_runs:
        count = automation.run_count
        times = "once" if count == 1 else f"{count} times"
        raise InvalidInput(f"it has run {times} already", hint="raise max_runs first")
    if guards.expires_at is not None and next_run_at > guards.expires_at:
        raise InvalidInput("it would expire before it ever runs", hint="choose a later expires_at")


def hidden_session_id(automation_id: str) -> str:
    return HIDDEN_PREFIX + automation_id


def is_hidden(session_id: str) -> bool:
    return session_id.startswith(HIDDEN_PREFIX)


def _switch_hint(name: str) -> str:
    return f"the setting [automations] {name} switches it on and off"


def run_id(automation_id: str, due_at: datetime) -> str:
    return f"{automation_id}:{int(due_at.timestamp() * 1000)}"


def require_name(name: str) -> str:
    tidy = " ".join(name.split())
    if not tidy:
        raise InvalidInput(
            "an automation needs a name", hint=f"use a few words, at most {NAME_LIMIT} characters"
        )
    return require_line("the name", tidy, NAME_LIMIT)


def require_message(message: str) -> str:
    if not message.strip():
        raise InvalidInput(
            "the message is blank",
            hint="say what to do, like 'Read error.log and report new errors.'",
        )
    return require_text(message)


def require_guards(
    now: datetime,
    *,
    max_runs: int | None,
    expires_at: datetime | None,
    max_failures: int,
    time_limit_seconds: int | None,
) -> Guards:
    if max_runs is not None:
        require_count("max_runs", max_runs)
    require_count("max_failures", max_failures)
    if time_limit_seconds is not None:
        require_seconds("time_limit_seconds", time_limit_seconds, shortest=1)
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("expires_at is in the past", hint="choose a time in the future")
    return Guards(max_runs, expires_at, max_failures, time_limit_seconds)
