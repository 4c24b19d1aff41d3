"""Creates, reads, changes and deletes sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from navi.base.errors import Conflict, SessionBusy, SessionNotFound
from navi.live.model.budget import Scope
from navi.live.model.input import NewInput, Origin
from navi.live.model.scheduling.automation import HIDDEN_PREFIX, BlockedByAutomations
from navi.live.model.session import (
    Session,
    SessionState,
    Transition,
    state_after,
    transition_between,
)
from navi.live.model.turn import StopReason
from navi.live.model.wire_format import session_json
from navi.live.store import budgets, input_queue, notices, origins, questions
from navi.live.store.access import quotas, session_tokens
from navi.live.store.engine import signals
from navi.live.store.engine.mappers import SESSIONS, session_of
from navi.live.store.engine.tables import Instant, lanes, session_recalls, sessions
from navi.live.store.events import emit, forget_session
from navi.live.store.lanes import Lane, lock, request_stop
from navi.live.store.scheduling import (
    automation_runs,
    automations,
    one_time_reminders,
    recalls,
    reminders,
)

_IS_VISIBLE = sessions.c.id.not_like(f"{HIDDEN_PREFIX}%")
_GET = SESSIONS.where(sessions.c.id == bindparam("session_id"))
_MOVE = (
    update(sessions)
    .where(sessions.c.id == bindparam("session_id"))
    .values(
        state=bindparam("new_state"),
        updated_at=bindparam("now"),
        last_outcome=bindparam("outcome"),
        unread=bindparam("is_unread"),
        notify_person=bindparam("notifies"),
        limit_until=bindparam("limited_until", type_=Instant),
    )
)
CLEARED = "the session was cleared"
MARKS = frozenset({"unread", "pinned", "archived", "notify_person"})
"""Columns with people's marks on a session. Changing them does not count as activity."""


def create(connection: Connection, session: Session, limit: int | None = None) -> Session:
    """Create the session, unless it exists. Raises LimitReached if its user already has `limit`."""
    if (existing := connection.execute(_GET, {"session_id": session.id}).one_or_none()) is not None:
        return session_of(existing)
    quotas.require_room(connection, quotas.SESSIONS, session.user_id, limit)
    connection.execute(insert(sessions).values(**_values(session)))
    connection.execute(
        insert(lanes).values(
            session_id=session.id,
            user_id=session.user_id,
            last_seq=0,
            next_idx=0,
            next_ordinal=0,
            fence=0,
        )
    )
    announce(connection, session, session.created_at)
    return session


def get(connection: Connection, session_id: str) -> Session:
    row = connection.execute(_GET, {"session_id": session_id}).one_or_none()
    if row is None:
        raise SessionNotFound(session_id)
    return session_of(row)


def list_sessions(
    connection: Connection,
    *,
    user_id: str | None,
    parent_id: str | None = None,
    with_recall: bool = False,
) -> list[Session]:
    """Visible sessions of one user, or of all users, most recently active first."""
    query = SESSIONS.where(_IS_VISIBLE).order_by(sessions.c.updated_at.desc(), sessions.c.id)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    if parent_id is not None:
        query = query.where(sessions.c.parent_id == parent_id)
    if with_recall:
        query = query.where(session_recalls.c.id.is_not(None))
    return [session_of(row) for row in connection.execute(query)]


def folders(connection: Connection, *, user_id: str | None) -> list[tuple[str, datetime]]:
    """The folders of one user's sessions, or of all users', and when each was last used."""
    columns = sessions.c.cwd, func.max(sessions.c.updated_at)
    query = select(*columns).where(_IS_VISIBLE).group_by(sessions.c.cwd)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    return [(cwd, last_used_at) for cwd, last_used_at in connection.execute(query)]


def change(
    connection: Connection, session_id: str, changes: dict[str, Any], now: datetime
) -> Session:
    """Write and announce the changes. Marks and limits leave `updated_at` alone."""
    lane = lock(connection, session_id)
    now = lane.clamp(now)
    if not changes.keys() <= {*MARKS, "limit_until"}:
        changes = {**changes, "updated_at": now}
    session = replace(lane.session, **changes)
    if session != lane.session:
        connection.execute(update(sessions).where(sessions.c.id == session_id).values(**changes))
        announce(connection, session, now)
    return session


def mark_seen(connection: Connection, session: Session, now: datetime) -> Session:
    """Record that a person works with the session. The caller holds its lane."""
    if not (session.unread or session.archived):
        return session
    marks = {"unread": False, "archived": False, "notify_person": False}
    return change(connection, session.id, marks, now)


def descendants(connection: Connection, session_id: str) -> list[Session]:
    """The sessions started by this one, directly or not, most recently active first."""
    below = select(sessions.c.id).where(sessions.c.parent_id == session_id).cte(recursive=True)
    # UNION, not UNION ALL: a cycle of parents must not loop forever.
    below = below.union(select(sessions.c.id).where(sessions.c.parent_id == below.c.id))
    query = SESSIONS.where(sessions.c.id.in_(select(below.c.id)), sessions.c.id != session_id)
    rows = connection.execute(query.order_by(sessions.c.updated_at.desc(), sessions.c.id))
    return [session_of(row) for row in rows]


def report(connection: Connection, session_id: str, text: str | None, now: datetime) -> Session:
    """Set the agent's status and restart its reminder. None only clears the status."""
    lane = lock(connection, session_id)
    now = lane.clamp(now)
    changes = {"agent_status_text": text, "agent_status_at": None if text is None else now}
    session = change(connection, session_id, changes, now)
    if text is not None:
        reminders.reset(connection, session_id, now)
    return session


def complete_task(
    connection: Connection, session_id: str, notice: NewInput | None, now: datetime
) -> bool:
    """Clear the session's task, stop its reminders, and send the notice, if any, to its parent.

    True if the notice was queued.
    """
    lane = lock(connection, session_id)
    if lane.session.task is not None:
        change(connection, session_id, {"task": None}, now)
    reminders.cancel(connection, session_id, lane.clamp(now))
    return notice is not None and input_queue.admit_notice(connection, notice, now)


def clear(connection: Connection, session_id: str, now: datetime) -> bool:
    """Start a new context for the agent; the transcript keeps everything.

    True if a turn is running: it is asked to end, and the new context begins when it does. Work
    that was interrupted by a usage limit is not continued.
    """
    lane = questions.withdraw_all(connection, lock(connection, session_id), now)
    reminders.cancel(connection, session_id, lane.clamp(now))
    for each in input_queue.list_inputs(connection, session_id):
        if each.is_continuation:
            input_queue.remove(connection, session_id, each.id, now)
            origins.input_removed(connection, each, CLEARED, now)
    if lane.turn_id is not None:
        return request_stop(connection, session_id, StopReason.CLEARED)
    change(connection, session_id, {"context_from_idx": lane.next_idx}, now)
    return False


def kill(connection: Connection, session_id: str, now: datetime) -> Session:
    """End the session for good, with its running turn, its queue and its schedules."""
    lane = lock(connection, session_id)
    if lane.session.state is SessionState.STOPPED:
        return lane.session
    now = lane.clamp(now)
    lane = questions.withdraw_all(connection, lane, now)
    if lane.turn_id is not None:
        request_stop(connection, session_id, StopReason.KILLED)
    session_tokens.void(connection, session_id)
    signals.send(connection, signals.ENDS)
    reminders.cancel(connection, session_id, now)
    one_time_reminders.session_ended(connection, session_id, now)
    removed = input_queue.remove_all(connection, session_id, now)
    for each in removed:
        origins.input_removed(connection, each, recalls.SESSION_ENDED, now)
    recalls.session_ended(connection, session_id, now)
    automation_runs.session_ended(connection, session_id, now)
    session = replace(move(connection, lane.session, Transition.KILLED, now), pending=None)
    announce(connection, session, now)
    notices.notify_lost(connection, session, removed, now)
    return session


def ended_among(connection: Connection, session_ids: Collection[str]) -> list[Session]:
    """The sessions among these that have ended."""
    query = SESSIONS.where(
        sessions.c.id.in_(session_ids), sessions.c.state == SessionState.STOPPED.value
    )
    return [session_of(row) for row in connection.execute(query)]


def kill_for_removal(
    connection: Connection, session_id: str, now: datetime, *, with_automations: bool
) -> Session:
    """Kill the session. If it has automations, `with_automations` must be set.

    Raises BlockedByAutomations otherwise.
    """
    lock(connection, session_id)
    blocking = automations.blocking(connection, session_id)
    if blocking and not with_automations:
        raise BlockedByAutomations(session_id, blocking)
    return kill(connection, session_id, now)


def remove(connection: Connection, session_id: str, now: datetime) -> None:
    """Delete the session and everything in it, except for a last event that announces this.

    Raises SessionBusy if a turn is running.
    """
    lane = lock(connection, session_id)
    if lane.turn_id is not None:
        raise SessionBusy(session_id)
    payload = {"session": session_json(lane.session), "deleted": True}
    last_seq = emit(connection, session_id, None, [("session_update", payload)], now)
    forget_session(connection, session_id, last_seq)
    input_queue.forget_session(connection, session_id)
    budgets.forget_owner(connection, Scope.SESSION, session_id)
    connection.execute(delete(sessions).where(sessions.c.id == session_id))


def title(connection: Connection, session_id: str) -> str:
    """The session's title, as people see it."""
    return get(connection, session_id).title


def set_opening(
    connection: Connection, session: Session, texts: Iterable[tuple[str, Origin]], now: datetime
) -> Session:
    """Give an unnamed session its title, derived from these texts and their origins.

    The caller holds the session's lane.
    """
    result = session
    for text, origin in texts:
        result = result.with_opening(text, origin)
    if result is not session:
        connection.execute(
            update(sessions)
            .where(sessions.c.id == session.id)
            .values(opening=result.opening, opening_origin=result.opening_origin)
        )
        announce(connection, result, now)
    return result


def move(
    connection: Connection, session: Session, transition: Transition, now: datetime
) -> Session:
    """Change the session's state without announcing it. The caller holds the session's lane.

    Also stores the fields of the session that `attention.after_turn` changes.
    """
    state = state_after(session.state, transition)
    if state is None:
        raise Conflict(f"{transition} is not possible while the session is {session.state}")
    values = {
        "session_id": session.id,
        "new_state": state,
        "now": now,
        "outcome": session.last_outcome,
        "is_unread": session.unread,
        "notifies": session.notify_person,
        "limited_until": session.limit_until,
    }
    connection.execute(_MOVE, values)
    return replace(session, state=state, updated_at=now)


def bring_to(connection: Connection, lane: Lane, state: SessionState, now: datetime) -> Session:
    """Change and announce the session's state, if a single transition leads to the new one."""
    transition = transition_between(lane.session.state, state)
    if transition is None:
        return lane.session
    session = move(connection, lane.session, transition, lane.clamp(now))
    announce(connection, session, session.updated_at)
    return session


def announce(connection: Connection, session: Session, now: datetime) -> None:
    event = ("session_update", {"session": session_json(session)})
    emit(connection, session.id, None, [event], now)


def _values(session: Session) -> dict[str, Any]:
    return {column.name: getattr(session, column.name) for column in sessions.columns}
