"""Everything that is waiting for a person: questions, failures, switched-off automations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

from navi.base.errors import Conflict, NotFound
from navi.live.model.attention import Attention, attention_of
from navi.live.model.budget import budget_of_call
from navi.live.model.question import Question, QuestionKind
from navi.live.model.scheduling.automation import Automation, Ended, is_hidden
from navi.live.model.session import Session, SessionState, first_line
from navi.live.model.turn import Outcome

NEVER = datetime.max.replace(tzinfo=UTC)
FAILURES: Mapping[Outcome | None, str] = {
    Outcome.ERROR: "failed",
    Outcome.DENIED: "was denied permission",
    Outcome.MAX_ITERATIONS: "used all its steps",
    Outcome.LIMIT: "reached its vendor's limit",
}


class InboxKind(StrEnum):
    """Why something is in the inbox, most important first."""

    QUESTION = "question"
    BUDGET = "budget"
    """A budget is used up, and no question about raising it is open."""
    LIMIT = "limit"
    """The vendor of a session's agent accepts no more requests for now."""
    FAILURE = "failure"
    DISABLED = "disabled"
    """An automation was switched off, because it failed too often."""
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class InboxItem:
    id: str
    """Stays the same for as long as the same thing is waiting."""
    kind: InboxKind
    session_id: str
    session_title: str
    title: str
    reason: str
    since: datetime
    then: str | None
    """What happens if the person does nothing; None if nothing happens."""
    question: Question | None = None
    snoozed_until: datetime | None = None
    """When it comes back; None if it is not hidden."""


@dataclass(frozen=True, slots=True)
class Snooze:
    """Hides an item from a person until it happens again, or until a given time."""

    item_id: str
    snoozed_at: datetime
    until: datetime | None
    """When the item comes back; None if only a new occurrence brings it back."""


@dataclass(frozen=True, slots=True)
class LastTurn:
    """Why the last turn of a session failed, if it did, and when it ended."""

    error: str | None
    ended_at: datetime


class InboxItemNotFound(NotFound):
    kind = "inbox_item_not_found"

    def __init__(self, item_id: str) -> None:
        super().__init__(
            f"nothing in the inbox has the id {item_id}",
            hint="somebody may have dealt with it already; GET /inbox lists the rest",
        )


class MustBeAnswered(Conflict):
    kind = "must_be_answered"

    def __init__(self, item: InboxItem) -> None:
        hint = "answer it in the agent's own terminal"
        if item.question is not None:
            hint = f"POST /questions/{item.question.id}/answer answers it"
        super().__init__("a question stays in the inbox until it is answered", hint=hint)


def inbox_of(
    sessions: Iterable[Session],
    questions: Iterable[Question],
    automations: Iterable[Automation],
    last_turns: Mapping[str, LastTurn],
    now: datetime,
    timezone: tzinfo,
) -> list[InboxItem]:
    """What is waiting for a person, most important first.

    `sessions` are those that need a person, or that the questions and automations belong to.
    `last_turns` maps the id of each to its last turn.
    """
    by_id = {session.id: session for session in sessions}
    items = [
        *_questions(by_id, questions, now, timezone),
        *_automations(by_id, automations),
        *_sessions(by_id.values(), last_turns),
        *_budgets(by_id, questions, now, timezone),
    ]
    kinds = list(InboxKind)
    return sorted(items, key=lambda item: (kinds.index(item.kind), _deadline(item), item.since))


def without_snoozed(
    items: Iterable[InboxItem],
    snoozes: Iterable[Snooze],
    now: datetime,
    *,
    keep_snoozed: bool = False,
) -> list[InboxItem]:
    """The items that are not snoozed, or have happened again since.

    With `keep_snoozed`, also the snoozed ones that have a time to come back.
    """
    by_id = {snooze.item_id: snooze for snooze in snoozes}
    marked = [_marked(item, by_id.get(item.id), now) for item in items]
    return [
        item
        for item in marked
        if item.snoozed_until is None or (keep_snoozed and item.snoozed_until != NEVER)
    ]


def _marked(item: InboxItem, snooze: Snooze | None, now: datetime) -> InboxItem:
    if snooze is None or item.since > snooze.snoozed_at:
        return item
    until = NEVER if snooze.until is None else snooze.until
    return item if until <= now else replace(item, snoozed_until=until)


def find(items: Sequence[InboxItem], item_id: str) -> InboxItem:
    match = next((item for item in items if item.id == item_id), None)
    if match is None:
        raise InboxItemNotFound(item_id)
    return match


def _deadline(item: InboxItem) -> datetime:
    at = None if item.question is None else item.question.deadline_at
    return NEVER if at is None else at


def _questions(
    sessions: Mapping[str, Session], questions: Iterable[Question], now: datetime, timezone: tzinfo
) -> Iterator[InboxItem]:
    for question in questions:
        if question.is_open and question.session_id in sessions:
            yield InboxItem(
                id=f"{InboxKind.QUESTION}-{question.id}",
                kind=InboxKind.QUESTION,
                session_id=question.session_id,
                session_title=sessions[question.session_id].title,
                title=question.title,
                reason=_reason_to_ask(question),
                since=question.created_at,
                then=_after_deadline(question, now, timezone),
                question=question,
            )


def _reason_to_ask(question: Question) -> str:
    match question.kind:
        case QuestionKind.PERMISSION:
            risk = f", {question.risk} risk: {question.risk_reason}" if question.risk else ""
            return f"asks for permission{risk}"
        case QuestionKind.CHOICE:
            return "asks you to choose"
        case QuestionKind.PLAN:
            return "asks you to approve its plan"
    return "asks you"


def _after_deadline(question: Question, now: datetime, timezone: tzinfo) -> str:
    if question.deadline_at is None:
        return "waits until somebody answers"
    when = _when(question.deadline_at.astimezone(timezone), now.astimezone(timezone))
    if question.kind in (QuestionKind.PERMISSION, QuestionKind.PLAN):
        return f"denied {when}"
    return f"continues without an answer {when}"


def _when(at: datetime, now: datetime) -> str:
    """`at 15:04`, `tomorrow at 15:04` or `on 2026-11-20 at 15:04`"""
    clock = f"at {at:%H:%M}"
    if at.date() == now.date():
        return clock
    is_tomorrow = at.date() == now.date() + timedelta(days=1)
    return f"tomorrow {clock}" if is_tomorrow else f"on {at:%Y-%m-%d} {clock}"


def _automations(
    sessions: Mapping[str, Session], automations: Iterable[Automation]
) -> Iterator[InboxItem]:
    for automation in automations:
        session = sessions.get(automation.session_id)
        is_gone = session is None or session.state is SessionState.STOPPED
        if automation.enabled or automation.ended is not Ended.FAILED or is_gone:
            continue
        assert session is not None
        failures = automation.failures_in_row
        times = "a failure" if failures == 1 else f"{failures} failures in a row"
        yield InboxItem(
            id=f"{InboxKind.DISABLED}-{automation.id}",
            kind=InboxKind.DISABLED,
            session_id=session.id,
            session_title=session.title,
            title=automation.name,
            reason=_with_detail(f"switched off after {times}", automation.last_error),
            since=automation.last_run_at or automation.updated_at,
            then="doesn't run until it is switched on",
        )


def _budgets(
    sessions: Mapping[str, Session], questions: Iterable[Question], now: datetime, timezone: tzinfo
) -> Iterator[InboxItem]:
    """One item for each used-up budget that sessions wait for, unless a question is about it."""
    seen = {budget_of_call(each.call_id) for each in questions if each.is_about_budget}
    for session in sorted(sessions.values(), key=lambda each: each.updated_at):
        if not session.is_paused or session.paused_by in seen:
            continue
        assert session.paused_by is not None
        seen.add(session.paused_by)
        then = "waits until the budget is raised"
        if session.paused_until is not None:
            until = session.paused_until.astimezone(timezone)
            then += f", or continues {_when(until, now.astimezone(timezone))}"
        reason = session.pause_reason or "a budget is used up"
        item = _item(session, InboxKind.BUDGET, reason, session.updated_at)
        yield replace(item, id=f"{InboxKind.BUDGET}-{session.paused_by}", then=then)


def _sessions(
    sessions: Iterable[Session], last_turns: Mapping[str, LastTurn]
) -> Iterator[InboxItem]:
    for session in sessions:
        last = last_turns.get(session.id)
        ended_at = session.updated_at if last is None else last.ended_at
        attention = attention_of(session)
        if attention is Attention.WAITING and session.waiting_for is None:
            asks = _item(
                session, InboxKind.QUESTION, "asks in its own terminal", session.updated_at
            )
            yield replace(asks, id=f"waiting-{session.id}", then="waits until you answer there")
        elif is_hidden(session.id):
            continue  # an automation that keeps failing has an item of its own
        elif attention is Attention.FAILED:
            is_limit = session.last_outcome is Outcome.LIMIT
            kind = InboxKind.LIMIT if is_limit else InboxKind.FAILURE
            error = None if last is None else last.error
            reason = _with_detail(FAILURES[session.last_outcome], error)
            yield replace(_item(session, kind, reason, ended_at), then="stays as it is")
        elif attention is Attention.FINISHED:
            yield _item(session, InboxKind.FINISHED, "finished while nobody was looking", ended_at)


def _item(session: Session, kind: InboxKind, reason: str, since: datetime) -> InboxItem:
    return InboxItem(
        id=f"{kind}-{session.id}",
        kind=kind,
        session_id=session.id,
        session_title=session.title,
        title=session.title,
        reason=reason,
        since=since,
        then=None,
    )


def _with_detail(reason: str, detail: str | None) -> str:
    line = first_line(detail or "")
    return reason if line is None else f"{reason}: {line}"
