"""Questions to a person: stored before anybody sees them, and closed once.

While a session has an open question it is `waiting`. Handing an answer to the agent is a separate
step, which may be repeated: the process that runs the turn reads the closed question from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, insert, or_, select, update

from navi.base.errors import FenceLost, SessionStopped
from navi.live.model.budget import NOTHING, Amount, budget_of_call
from navi.live.model.input import Input
from navi.live.model.notification import of_question
from navi.live.model.permission_policy import ON_PERMISSION
from navi.live.model.question import (
    Decision,
    NewQuestion,
    Option,
    Question,
    QuestionAnswer,
    QuestionClosed,
    QuestionKind,
    QuestionNotFound,
    QuestionState,
    answer_input,
    require_answer,
)
from navi.live.model.question_deadline import QUESTION_DEADLINE
from navi.live.model.session import Session, SessionState
from navi.live.model.turn import Turn
from navi.live.model.wire_format import question_json, session_json
from navi.live.store import budgets, input_queue, notifications
from navi.live.store.engine import signals
from navi.live.store.engine.tables import lanes, message_queue, sessions, turns
from navi.live.store.engine.tables import questions as table
from navi.live.store.events import emit
from navi.live.store.lanes import Lane, lock
from navi.live.store.scheduling import one_time_reminders

IS_OPEN = table.c.state == QuestionState.OPEN.value
_FIND = select(table).where(table.c.id == bindparam("question_id"))
_OPEN_OF_SESSION = (
    select(table)
    .where(table.c.session_id == bindparam("session_id"), IS_OPEN)
    .order_by(table.c.created_at, table.c.id)
)


def ask(connection: Connection, new: Question, turn: Turn | None, now: datetime) -> Question:
    """Store a question, or return the one that the same call asked before.

    If the turn's agent was restarted and asks again with another call id, the open question moves
    to that call. A question that outlives its turn is not asked again while it is open. Raises
    `FenceLost` if the turn belongs to another process.
    """
    lane = lock(connection, new.session_id)
    if turn is not None and (lane.turn_id, lane.fence) != (turn.id, turn.fence):
        raise FenceLost(new.session_id)
    if (existing := find(connection, new.id)) is not None:
        return existing
    if lane.session.state is SessionState.STOPPED:
        raise SessionStopped(new.session_id)
    if not new.is_open:
        # The turn's permission policy has already answered it.
        connection.execute(insert(table).values(**_values(new)))
        _announce(connection, new, now)
        return new
    if (repeated := _open_duplicate(connection, new)) is not None:
        if new.outlives_turn:
            return repeated
        is_repeated = table.c.id == repeated.id
        connection.execute(update(table).where(is_repeated).values(call_id=new.call_id))
        return replace(repeated, call_id=new.call_id)
    connection.execute(insert(table).values(**_values(new)))
    _announce(connection, new, now)
    _update_session(connection, lane, now)
    notifications.add(connection, of_question(new, lane.session, now))
    if new.deadline_at is not None:
        signals.send(connection, signals.CLOCK)
    return new


def session_and_metadata(
    connection: Connection, session_id: str, now: datetime
) -> tuple[Session, Mapping[str, Any]]:
    """The session, and the metadata of the input whose turn it is running, if any."""
    lane = lock(connection, session_id)
    if lane.turn_id is None:
        return lane.session, {}
    return lane.session, _metadata_of_turn(connection, session_id, lane.clamp(now))


def ask_in_lane(
    connection: Connection, lane: Lane, new: NewQuestion, turn_id: str | None, now: datetime
) -> Lane:
    """Store a question that Navi itself asks. Returns the lane with the session as it is now."""
    question = Question.create(new, lane.session.id, turn_id, lane.clamp(now), None)
    is_over = lane.session.state is SessionState.STOPPED
    if is_over or find(connection, question.id) is not None:
        return lane
    connection.execute(insert(table).values(**_values(question)))
    _announce(connection, question, now)
    lane = _update_session(connection, lane, now)
    notifications.add(connection, of_question(question, lane.session, now))
    return lane


def is_settled(connection: Connection, question_id: str | None) -> bool:
    """Whether the question is open or was answered, so that it need not be asked again."""
    question = None if question_id is None else find(connection, question_id)
    return question is not None and question.state is not QuestionState.WITHDRAWN


def answer(
    connection: Connection,
    question_id: str,
    answer: QuestionAnswer,
    by: str,
    via: str,
    now: datetime,
    usual_day: Amount = NOTHING,
) -> tuple[Question, Input | None]:
    """Answer an open question. Returns it, and the input that carries the answer, if one does.

    Raises `QuestionClosed` if it is no longer open: only the first answer counts.
    """
    lane = lock(connection, get(connection, question_id).session_id)
    question = get(connection, question_id)
    if not question.is_open:
        if (question.answer, question.answered_by, question.answered_via) == (answer, by, via):
            # Already stored by a commit whose reply got lost.
            return question, None
        raise QuestionClosed(question)
    require_answer(question, answer)
    closed = question.closed(QuestionState.ANSWERED, answer, by, via, lane.clamp(now))
    if closed.is_about_budget:
        budgets.answer(connection, closed, usual_day, lane.clamp(now))
    return closed, _close(connection, lane, closed, now)


def expire(connection: Connection, lane: Lane, question: Question, now: datetime) -> Input | None:
    """Close a question whose deadline has passed. Returns the input with the default answer."""
    at = lane.clamp(now)
    closed = question.closed(QuestionState.EXPIRED, question.default, None, "deadline", at)
    return _close(connection, lane, closed, now)


def withdraw(
    connection: Connection, question_id: str, now: datetime, via: str | None = None
) -> Question:
    """Close a question that the agent no longer asks; one that is closed stays as it is."""
    question = get(connection, question_id)
    lane = lock(connection, question.session_id)
    withdraw_all(connection, lane, now, only=question_id, via=via)
    return get(connection, question_id)


def withdraw_all(
    connection: Connection,
    lane: Lane,
    now: datetime,
    *,
    only: str | None = None,
    turn_id: str | None = None,
    via: str | None = None,
) -> Lane:
    """Close open questions of the session: all, one, or those that a turn asks and waits for.

    `via` says where the person has answered, if they did so without Navi. The caller holds the
    lane. Returns it with the session as it is now.
    """
    if lane.session.waiting_for is None:
        return lane
    for question in open_questions(connection, lane.session.id):
        is_not_awaited = turn_id is not None and (
            question.turn_id != turn_id or question.outlives_turn
        )
        if is_not_awaited or only not in (None, question.id):
            continue
        closed = question.closed(QuestionState.WITHDRAWN, None, None, via, lane.clamp(now))
        _store_closed(connection, closed, now)
    return _update_session(connection, lane, now)


def withdraw_about_budget(connection: Connection, lane: Lane, now: datetime) -> Lane:
    """Close the question about the budget that the session has waited for."""
    if lane.session.waiting_for is None:
        return lane
    for question in open_questions(connection, lane.session.id):
        if question.is_about_budget and budget_of_call(question.call_id) == lane.session.paused_by:
            lane = withdraw_all(connection, lane, now, only=question.id)
    return lane


def get(connection: Connection, question_id: str) -> Question:
    question = find(connection, question_id)
    if question is None:
        raise QuestionNotFound(question_id)
    return question


def find(connection: Connection, question_id: str) -> Question | None:
    row = connection.execute(_FIND, {"question_id": question_id}).one_or_none()
    return None if row is None else question_of(row)


def open_questions(connection: Connection, session_id: str) -> list[Question]:
    """The session's open questions, oldest first."""
    rows = connection.execute(_OPEN_OF_SESSION, {"session_id": session_id})
    return [question_of(row) for row in rows]


def list_questions(
    connection: Connection,
    *,
    user_id: str | None,
    session_id: str | None = None,
    state: QuestionState | None = None,
    closed_limit: int = 1000,
) -> list[Question]:
    """Questions in the sessions of one user, or of all users, newest first.

    Open questions are never cut off; of the others, only the newest `closed_limit` are listed.
    """
    is_open = table.c.state == QuestionState.OPEN.value
    query = select(table)
    if user_id is not None:
        query = query.join(lanes, lanes.c.session_id == table.c.session_id).where(
            lanes.c.user_id == user_id
        )
    if session_id is not None:
        query = query.where(table.c.session_id == session_id)
    if state is not None:
        query = query.where(table.c.state == state.value)
    rows = connection.execute(query.where(is_open)).all()
    if state is not QuestionState.OPEN:
        closed = query.where(~is_open).order_by(table.c.created_at.desc(), table.c.id)
        rows = [*rows, *connection.execute(closed.limit(closed_limit))]
    questions = [question_of(row) for row in rows]
    return sorted(questions, key=lambda each: (-each.created_at.timestamp(), each.id))


def _open_duplicate(connection: Connection, new: Question) -> Question | None:
    """The same question, asked before by an agent that was restarted or that repeats a request."""
    if new.turn_id is None and not new.outlives_turn:
        return None
    return next(
        (
            each
            for each in open_questions(connection, new.session_id)
            if _content(each) == _content(new)
        ),
        None,
    )


def _content(question: Question) -> tuple[Any, ...]:
    if not question.outlives_turn:
        return (question.turn_id, question.fingerprint)
    return (None, question.fingerprint, question.detail, *question.options)


def _close(connection: Connection, lane: Lane, closed: Question, now: datetime) -> Input | None:
    _store_closed(connection, closed, now)
    lane = _update_session(connection, lane, now, continues_in_terminal=closed.is_in_terminal)
    if not closed.starts_turn:
        return None
    new = answer_input(closed, _policy_of_turn(connection, closed))
    admitted = input_queue.admit_all(connection, [(lane, new)], now)
    signals.send(connection, signals.WORK)
    return admitted[0] if admitted else None


def _policy_of_turn(connection: Connection, question: Question) -> Mapping[str, Any]:
    """The policy of an automation, if the question was asked during its run."""
    metadata = _metadata_of_turn(connection, question.session_id, question.created_at)
    return {key: metadata[key] for key in (ON_PERMISSION, QUESTION_DEADLINE) if key in metadata}


def _metadata_of_turn(connection: Connection, session_id: str, at: datetime) -> Mapping[str, Any]:
    """The metadata of the input whose turn ran at this time, if one did."""
    query = (
        select(message_queue.c.metadata)
        .join(turns, turns.c.id == message_queue.c.turn_id)
        .where(turns.c.session_id == session_id, turns.c.started_at <= at)
        .where(or_(turns.c.ended_at.is_(None), turns.c.ended_at >= at))
        .order_by(turns.c.started_at.desc(), message_queue.c.ordinal)
        .limit(1)
    )
    return connection.execute(query).scalar_one_or_none() or {}


def _store_closed(connection: Connection, closed: Question, now: datetime) -> None:
    values = _values(closed)
    connection.execute(update(table).where(table.c.id == closed.id).values(**values))
    _announce(connection, closed, now)
    signals.send(connection, signals.ANSWERS, closed.id)


def _update_session(
    connection: Connection, lane: Lane, now: datetime, *, continues_in_terminal: bool = False
) -> Lane:
    """Bring the session's state in line with its open questions, and announce it.

    `continues_in_terminal` says that its agent continues in a person's terminal, outside of
    Navi's turns.
    """
    session_id = lane.session.id
    still_open = open_questions(connection, session_id)
    waiting_for = still_open[0].id if still_open else None
    is_idle = lane.turn_id is None and not continues_in_terminal
    state = SessionState.IDLE if is_idle else SessionState.RUNNING
    if waiting_for is not None:
        state = SessionState.WAITING
    session = replace(
        lane.session, waiting_for=waiting_for, state=state, updated_at=lane.clamp(now)
    )
    connection.execute(
        update(sessions)
        .where(sessions.c.id == session_id)
        .values(waiting_for=waiting_for, state=state, updated_at=session.updated_at)
    )
    item = ("session_update", {"session": session_json(session)})
    emit(connection, session_id, None, [item], session.updated_at)
    if waiting_for is None:
        one_time_reminders.pull_forward(connection, session_id, now)
    return replace(lane, session=session)


def _announce(connection: Connection, question: Question, now: datetime) -> None:
    item = ("question_update", {"question": question_json(question)})
    emit(connection, question.session_id, None, [item], now)


def _values(question: Question) -> dict[str, Any]:
    values = {column.name: getattr(question, column.name, None) for column in table.columns}
    return {
        **values,
        "options": [asdict(option) for option in question.options],
        "suggestions": [dict(each) for each in question.suggestions],
        "tool_input": None if question.tool_input is None else dict(question.tool_input),
        "default_answer": _answer_values(question.default),
        "answer": None if question.answer is None else _answer_values(question.answer),
    }


def _answer_values(answer: QuestionAnswer) -> dict[str, Any]:
    values = asdict(answer)
    return {**values, "choices": list(answer.choices)}


def _answer_of(values: Mapping[str, Any] | None) -> QuestionAnswer | None:
    if values is None:
        return None
    return QuestionAnswer(
        Decision(values["decision"]),
        values["text"],
        tuple(values["choices"]),
        values["updated_input"],
    )


def question_of(row: Row[Any]) -> Question:
    default = _answer_of(row.default_answer)
    assert default is not None
    return Question(
        id=row.id,
        session_id=row.session_id,
        turn_id=row.turn_id,
        call_id=row.call_id,
        fingerprint=row.fingerprint,
        kind=QuestionKind(row.kind),
        title=row.title,
        detail=row.detail,
        tool_name=row.tool_name,
        tool_input=row.tool_input,
        risk=row.risk,
        risk_reason=row.risk_reason,
        options=_options(row.options),
        allow_free_text=row.allow_free_text,
        allow_several=row.allow_several,
        takes_updated_input=row.takes_updated_input,
        suggestions=tuple(row.suggestions),
        outlives_turn=row.outlives_turn,
        state=QuestionState(row.state),
        default=default,
        deadline_at=row.deadline_at,
        created_at=row.created_at,
        answer=_answer_of(row.answer),
        answered_by=row.answered_by,
        answered_via=row.answered_via,
        answered_at=row.answered_at,
    )


def _options(values: Sequence[Mapping[str, str]]) -> tuple[Option, ...]:
    return tuple(Option(each["label"], each["description"]) for each in values)
