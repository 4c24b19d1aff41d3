from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from navi.live.model.inbox import (
    InboxItem,
    InboxItemNotFound,
    LastTurn,
    Snooze,
    find,
    inbox_of,
    without_snoozed,
)
from navi.live.model.question import NewQuestion, Question, QuestionKind, QuestionState
from navi.live.model.scheduling.automation import (
    Automation,
    CatchUp,
    Ended,
    Guards,
    Kind,
    Target,
)
from navi.live.model.scheduling.schedule import Every
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Outcome

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
PARIS = timezone(HOUR)


def session(name: str, **fields: Any) -> Session:
    new = Session.new("local", "builtin", "/", NOON - HOUR, id=f"id-{name}", name=name)
    return replace(new, **fields)


def unread(name: str, outcome: Outcome, **fields: Any) -> Session:
    return session(name, unread=True, last_outcome=outcome, **fields)


def question(
    asking: Session,
    kind: QuestionKind = QuestionKind.PERMISSION,
    wait: timedelta | None = HOUR,
    title: str = "May I?",
) -> Question:
    new = NewQuestion(kind=kind, title=title, call_id=title)
    return Question.create(new, asking.id, None, NOON, wait, ("high", "deletes"))


def automation(owner: Session, **fields: Any) -> Automation:
    values: dict[str, Any] = {
        "id": "error-log",
        "user_id": "local",
        "name": "error log",
        "kind": Kind.AGENT_TURN,
        "session_key": owner.id,
        "schedule": Every(60, NOON),
        "message": "look",
        "enabled": False,
        "catch_up": CatchUp.ONCE,
        "guards": Guards(),
        "target": Target(),
        "next_run_at": None,
        "created_at": NOON,
        "updated_at": NOON,
        "last_run_at": NOON - HOUR,
        "failures_in_row": 5,
        "last_error": "no such file\ndetails",
        "ended": Ended.FAILED,
        **fields,
    }
    return Automation(**values)


def inbox(
    *sessions: Session,
    questions: tuple[Question, ...] = (),
    automations: tuple[Automation, ...] = (),
    last_turns: dict[str, LastTurn] | None = None,
) -> list[InboxItem]:
    return inbox_of(sessions, questions, automations, last_turns or {}, NOON, PARIS)


def test_what_is_most_important_comes_first() -> None:
    asking, failed = session("asking"), unread("failed", Outcome.ERROR)
    limited, finished = unread("limited", Outcome.LIMIT), unread("finished", Outcome.OK)
    patient = question(asking, wait=None, title="patient")
    late = question(asking, wait=2 * HOUR, title="late")
    soon = question(asking, wait=HOUR, title="soon")

    items = inbox(
        finished,
        failed,
        limited,
        asking,
        questions=(patient, late, soon),
        automations=(automation(finished),),
    )

    assert [item.id for item in items] == [
        f"question-{soon.id}",
        f"question-{late.id}",
        f"question-{patient.id}",
        "limit-id-limited",
        "failure-id-failed",
        "disabled-error-log",
        "finished-id-finished",
    ]
    kinds = [item.kind.value for item in items]
    assert kinds == [item.id.split("-")[0] for item in items]


@pytest.mark.parametrize(
    ("kind", "wait", "reason", "then"),
    [
        ("permission", HOUR, "asks for permission, high risk: deletes", "denied at 14:00"),
        ("plan", HOUR, "asks you to approve its plan", "denied at 14:00"),
        ("choice", HOUR, "asks you to choose", "continues without an answer at 14:00"),
        ("text", HOUR, "asks you", "continues without an answer at 14:00"),
        ("plan", 11 * HOUR, "asks you to approve its plan", "denied tomorrow at 00:00"),
        ("plan", 48 * HOUR, "asks you to approve its plan", "denied on 2026-11-20 at 13:00"),
        ("plan", None, "asks you to approve its plan", "waits until somebody answers"),
    ],
)
def test_a_question_says_what_its_deadline_does(kind, wait, reason, then) -> None:
    asking = session("asking")
    open_question = question(asking, QuestionKind(kind), wait)
    (item,) = inbox(asking, questions=(open_question,))
    assert (item.title, item.session_title, item.reason, item.then) == (
        "May I?",
        "asking",
        reason,
        then,
    )
    assert item.question == open_question


def test_a_closed_question_no_longer_waits() -> None:
    asking = session("asking")
    closed = replace(question(asking), state=QuestionState.WITHDRAWN)
    assert inbox(asking, questions=(closed,)) == []


@pytest.mark.parametrize(
    ("outcome", "error", "reason"),
    [
        (Outcome.ERROR, "out of paper\ntraceback", "failed: out of paper"),
        (Outcome.ERROR, None, "failed"),
        (Outcome.DENIED, "terminal(rm)", "was denied permission: terminal(rm)"),
        (Outcome.MAX_ITERATIONS, None, "used all its steps"),
        (Outcome.LIMIT, "429", "reached its vendor's limit: 429"),
    ],
)
def test_a_failure_says_why(outcome, error, reason) -> None:
    failed = unread("failed", outcome)
    (item,) = inbox(failed, last_turns={failed.id: LastTurn(error, NOON - 2 * HOUR)})
    assert (item.reason, item.since, item.then) == (reason, NOON - 2 * HOUR, "stays as it is")


def test_a_terminal_that_asks_is_answered_there() -> None:
    (item,) = inbox(session("pane", state=SessionState.WAITING))
    assert (item.id, item.kind, item.question) == ("waiting-id-pane", "question", None)
    assert item.then == "waits until you answer there"


def test_what_needs_nobody_is_not_listed() -> None:
    seen = session("seen", last_outcome=Outcome.OK)
    goes_on = unread("goes on", Outcome.OK, state=SessionState.RUNNING)
    hidden = unread("hidden", Outcome.ERROR, id="cron:error-log")
    ended = session("ended", state=SessionState.STOPPED)
    automations = (
        automation(seen, ended=Ended.DONE),
        automation(seen, ended=None),
        automation(ended),
    )
    assert inbox(seen, goes_on, hidden, ended, automations=automations) == []


def test_an_automation_that_failed_too_often_is_listed_until_it_is_switched_on() -> None:
    owner = session("owner")
    (item,) = inbox(owner, automations=(automation(owner),))
    assert (item.title, item.since) == ("error log", NOON - HOUR)
    assert item.reason == "switched off after 5 failures in a row: no such file"
    assert inbox(owner, automations=(automation(owner, enabled=True),)) == []


def test_a_snoozed_item_comes_back_by_itself() -> None:
    (item,) = items = inbox(unread("done", Outcome.OK))
    snooze = Snooze(item.id, NOON, NOON + HOUR)
    assert without_snoozed(items, [snooze], NOON + HOUR / 2) == []
    assert without_snoozed(items, [snooze], NOON + HOUR) == items
    (hidden,) = without_snoozed(items, [snooze], NOON, keep_snoozed=True)
    assert hidden == replace(item, snoozed_until=NOON + HOUR)


def test_a_snoozed_item_that_happens_again_is_shown_at_once() -> None:
    failed = unread("failed", Outcome.ERROR)
    again = inbox(failed, last_turns={failed.id: LastTurn(None, NOON + HOUR)})
    for until in (NOON + 9 * HOUR, None):
        snooze = Snooze(again[0].id, NOON, until)
        assert without_snoozed(again, [snooze], NOON + 2 * HOUR) == again


def test_what_was_settled_for_good_is_not_even_among_the_snoozed() -> None:
    owner = session("owner")
    items = inbox(owner, automations=(automation(owner),))
    settled = [Snooze(items[0].id, NOON, None)]
    assert without_snoozed(items, settled, NOON + 1000 * HOUR, keep_snoozed=True) == []


def test_an_unknown_item_is_refused() -> None:
    items = inbox(unread("done", Outcome.OK))
    assert find(items, "finished-id-done") == items[0]
    with pytest.raises(InboxItemNotFound):
        find(items, "finished-nobody")
