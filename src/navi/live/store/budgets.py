"""Stores budgets, counts what turns use, and makes inputs wait for a budget that is used up.

A waiting input names its budget, and can be delivered once that budget's `paused_until` has passed
or was cleared. So raising a budget is one write, and releases everything that waits for it. Callers
that hold a lane lock a budget after it, and after the accounts of usage limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime, tzinfo
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, exists, insert, select, update
from sqlalchemy.exc import IntegrityError

from navi.live.model.budget import (
    NEVER,
    Amount,
    Budget,
    Pause,
    Scope,
    after_answer,
    after_turn,
    budget_key,
    day_of,
    pause_end,
    use_of,
    why_exhausted,
)
from navi.live.model.event import Usage
from navi.live.model.input import Input
from navi.live.model.question import Question
from navi.live.model.session import Session
from navi.live.model.turn import Turn
from navi.live.model.wire_format import session_json
from navi.live.store.engine import signals
from navi.live.store.engine.tables import budgets, message_queue
from navi.live.store.engine.tables import sessions as session_rows
from navi.live.store.events import emit
from navi.live.store.lanes import Lane, lock

AUTOMATION = "automation_id"
"""Metadata key of an input: its automation."""
_FIELDS = tuple(field.name for field in fields(Budget))
_GET = select(budgets).where(budgets.c.key == bindparam("budget_key"))
_GET_LOCKED = _GET.with_for_update()
_SOME = (
    select(budgets)
    .where(budgets.c.key.in_(bindparam("keys", expanding=True)))
    .order_by(budgets.c.key)
)
_SOME_LOCKED = _SOME.with_for_update()
UNPAUSED = {"paused_by": None, "pause_reason": None, "paused_until": None}


def find(connection: Connection, scope: Scope, owner_id: str) -> Budget | None:
    row = connection.execute(_GET, {"budget_key": budget_key(scope, owner_id)}).one_or_none()
    return None if row is None else _budget(row)


def list_budgets(connection: Connection, user_id: str | None) -> list[Budget]:
    """The budgets of one user, or of all users."""
    query = select(budgets).order_by(budgets.c.scope.desc(), budgets.c.key)
    if user_id is not None:
        query = query.where(budgets.c.user_id == user_id)
    return [_budget(row) for row in connection.execute(query)]


def count(connection: Connection, turn: Turn, usage: Usage, now: datetime) -> None:
    """Add what the turn has used to every budget that covers it."""
    use = use_of(usage)
    if use is None:
        return
    day = day_of(now, turn.zone)
    keys = _keys(connection, turn.session, turn.input)
    rows = connection.execute(_SOME_LOCKED, {"keys": keys})
    counted = [_budget(row) for row in rows]
    user_id = turn.session.user_id
    if not any(each.scope is Scope.USER for each in counted):
        # Today's use is always counted, so that a daily budget can be set later.
        counted.append(_locked(connection, Budget(Scope.USER, user_id, user_id, daily=True)))
    for each in counted:
        _write(connection, each, after_turn(each.on(day), use))


def blocking(
    connection: Connection,
    session: Session,
    chosen: Input,
    now: datetime,
    zone: tzinfo,
    usual_day: Amount,
) -> Budget | None:
    """The used-up budget that this input has to wait for; None if it may be delivered.

    `usual_day` is the default daily allowance of a user.
    """
    keys = _keys(connection, session, chosen)
    for row in connection.execute(_SOME, {"keys": keys}):
        budget = _budget(row).limited_by(usual_day).on(day_of(now, zone))
        if why_exhausted(budget) is not None:
            return budget
    return None


def pause(
    connection: Connection,
    lane: Lane,
    budget: Budget,
    held: Sequence[Input],
    question_id: str | None,
    now: datetime,
    zone: tzinfo,
) -> Lane:
    """Make these inputs wait for the budget. Returns the lane with the session as it is now."""
    until = pause_end(budget, now, zone)
    asks = budget.asks + (question_id != budget.question_id)
    connection.execute(
        update(budgets)
        .where(budgets.c.key == budget.key)
        .values(
            **_changeable(budget.on(day_of(now, zone))),
            paused_until=until,
            question_id=question_id,
            asks=asks,
        )
    )
    is_held = message_queue.c.id.in_([each.id for each in held])
    connection.execute(update(message_queue).where(is_held).values(budget=budget.key))
    if budget.scope is Scope.AUTOMATION:
        return lane  # everything else in its session continues
    changes = {
        "paused_by": budget.key,
        "pause_reason": why_exhausted(budget),
        "paused_until": None if until == NEVER else until,
    }
    return replace(lane, session=_change_session(connection, lane.session, changes, now))


def lock_budget(
    connection: Connection, budget: Budget, usual_day: Amount, day: str
) -> Budget | None:
    """The budget as it is now, locked; None if it was removed."""
    row = connection.execute(_GET_LOCKED, {"budget_key": budget.key}).one_or_none()
    return None if row is None else _budget(row).limited_by(usual_day).on(day)


def answer(connection: Connection, question: Question, usual_day: Amount, now: datetime) -> None:
    """Raise the budget that the question is about, if the answer says so."""
    assert question.answer is not None
    query = select(budgets).where(budgets.c.question_id == question.id).with_for_update()
    row = connection.execute(query).one_or_none()
    if row is None:
        return  # it was raised already
    budget = _budget(row).limited_by(usual_day)
    if budget.paused_until is None or budget.paused_until <= now:
        return  # a new day has begun
    raised = after_answer(budget, question.answer)
    if raised is None:
        return
    if raised.limit.is_none and raised.scope is not Scope.USER:
        connection.execute(delete(budgets).where(budgets.c.key == budget.key))
    else:
        values = {**_changeable(raised), "paused_until": None, "question_id": None}
        if (raised.tokens, raised.dollars) != (budget.tokens, budget.dollars):
            values |= {"tokens": raised.tokens, "dollars": raised.dollars}
        connection.execute(update(budgets).where(budgets.c.key == budget.key).values(**values))
    signals.send(connection, signals.WORK)


def set_limit(connection: Connection, new: Budget, now: datetime, zone: tzinfo) -> Budget:
    """Set the owner's allowance. What was used under an earlier one still counts."""
    day = day_of(now, zone)
    existing = _locked(connection, new)
    current = existing.on(day) if new.daily == existing.daily else existing
    new = replace(
        current,
        tokens=new.tokens,
        dollars=new.dollars,
        daily=new.daily,
        day=day,
        extra_tokens=0,
        extra_dollars=0.0,
    )
    if why_exhausted(new) is None:
        new = replace(new, paused_until=None, question_id=None)
    elif new.paused_until is not None:
        new = replace(new, paused_until=pause_end(new, now, zone))
    _write(connection, existing, new)
    signals.send(connection, signals.WORK)
    return new


def remove(connection: Connection, scope: Scope, owner_id: str) -> None:
    """Remove the budget; inputs that wait for it continue. A user's daily use is still counted."""
    key = budget_key(scope, owner_id)
    if scope is Scope.USER:
        none = {"tokens": None, "dollars": None, "extra_tokens": 0, "extra_dollars": 0.0}
        connection.execute(
            update(budgets)
            .where(budgets.c.key == key)
            .values(**none, paused_until=None, question_id=None)
        )
    else:
        connection.execute(delete(budgets).where(budgets.c.key == key))
    signals.send(connection, signals.WORK)


def paused_sessions(connection: Connection, key: str, now: datetime) -> Sequence[str]:
    """The sessions that are still shown as waiting for this budget, although it was raised."""
    is_paused = exists().where(budgets.c.key == key, budgets.c.paused_until > now)
    query = select(session_rows.c.id).where(session_rows.c.paused_by == key, ~is_paused)
    return connection.execute(query.order_by(session_rows.c.id)).scalars().all()


def show_released(connection: Connection, session_id: str, key: str, now: datetime) -> None:
    """Announce that the session no longer waits for this budget."""
    lane = lock(connection, session_id)
    if lane.session.paused_by == key:
        _change_session(connection, lane.session, UNPAUSED, lane.clamp(now))


def pause_of(connection: Connection, session_id: str, now: datetime) -> Pause | None:
    """Why the session's inputs wait for a budget; None if they don't."""
    row = connection.execute(
        select(session_rows.c.paused_by, session_rows.c.pause_reason, session_rows.c.paused_until)
        .join(budgets, budgets.c.key == session_rows.c.paused_by)
        .where(session_rows.c.id == session_id, budgets.c.paused_until > now)
    ).one_or_none()
    return None if row is None else Pause(*row)


def forget_owner(connection: Connection, scope: Scope, owner_id: str) -> None:
    """Delete the budget of a session, automation or user that is being deleted."""
    connection.execute(delete(budgets).where(budgets.c.key == budget_key(scope, owner_id)))


def _change_session(
    connection: Connection, session: Session, changes: dict[str, Any], now: datetime
) -> Session:
    changes = {**changes, "updated_at": now}
    connection.execute(
        update(session_rows).where(session_rows.c.id == session.id).values(**changes)
    )
    changed = replace(session, **changes)
    item = ("session_update", {"session": session_json(changed)})
    emit(connection, session.id, None, [item], now)
    return changed


def _keys(connection: Connection, session: Session, first: Input) -> list[str]:
    """The keys of all budgets that could cover a turn of this session with this input."""
    keys = [
        budget_key(Scope.USER, session.user_id),
        *(budget_key(Scope.SESSION, id) for id in _with_ancestors(connection, session)),
    ]
    if (automation_id := first.metadata.get(AUTOMATION)) is not None:
        keys.append(budget_key(Scope.AUTOMATION, str(automation_id)))
    return keys


def _with_ancestors(connection: Connection, session: Session) -> list[str]:
    """The session and those that started it, directly or not."""
    if session.parent_id is None:
        return [session.id]
    above = (
        select(session_rows.c.id, session_rows.c.parent_id)
        .where(session_rows.c.id == session.parent_id)
        .cte(recursive=True)
    )
    parents = select(session_rows.c.id, session_rows.c.parent_id)
    # UNION, not UNION ALL: a cycle of parents must not loop forever.
    above = above.union(parents.where(session_rows.c.id == above.c.parent_id))
    return [session.id, *connection.execute(select(above.c.id)).scalars()]


def _locked(connection: Connection, new: Budget) -> Budget:
    """The owner's budget, locked; created if it doesn't exist."""
    row = connection.execute(_GET_LOCKED, {"budget_key": new.key}).one_or_none()
    if row is None:
        try:
            with connection.begin_nested():
                connection.execute(insert(budgets).values(key=new.key, **_values_of(new)))
            return new
        except IntegrityError:  # another transaction was faster
            row = connection.execute(_GET_LOCKED, {"budget_key": new.key}).one()
    return _budget(row)


def _write(connection: Connection, old: Budget, new: Budget) -> None:
    before, after = _values_of(old), _values_of(new)
    changes = {name: value for name, value in after.items() if value != before[name]}
    if changes:
        connection.execute(update(budgets).where(budgets.c.key == new.key).values(**changes))


def _changeable(budget: Budget) -> dict[str, Any]:
    """The columns that counting and raising change. Not the allowance, which may be a default."""
    fixed = {"scope", "owner_id", "user_id", "tokens", "dollars", "daily"}
    own = {"paused_until", "question_id", "asks"}
    return {name: getattr(budget, name) for name in _FIELDS if name not in fixed | own}


def _values_of(budget: Budget) -> dict[str, Any]:
    return {name: getattr(budget, name) for name in _FIELDS}


def _budget(row: Row[Any]) -> Budget:
    values = dict(row._mapping)
    del values["key"]
    return Budget(**{**values, "scope": Scope(values["scope"])})
