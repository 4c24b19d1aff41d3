"""Creates, reads, changes and deletes sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from navi.base.errors import Conflict, SessionBusy, SessionNotFound
from navi.live.model.input import NewInput, Origin
from navi.live.model.scheduling.automation import HIDDEN_PREFIX, BlockedByAutomations
from navi.live.model.session import Session, SessionState, Transition, after, transition_between
from navi.live.model.turn import StopReason
from navi.live.model.wire_format import session_json
from navi.live.store import input_queue, notices, origins
from navi.live.store.access import quotas, session_tokens
from navi.live.store.engine import signals
from navi.live.store.engine.mappers import SESSIONS, session_of
from navi.live.store.engine.tables import lanes, session_recalls, sessions
from navi.live.store.events import emit, forget_session
from navi.live.store.lanes import Lane, lock, request_stop
from navi.live.store.scheduling import (
    automation_runs,
    automations,
    one_time_reminders,
    recalls,
    reminders,
)

_GET = SESSIONS.where(sessions.c.id == bindparam("session_id"))
_MOVE = (
    update(sessions)
    .where(sessions.c.id == bindparam("session_id"))
    .values(state=bindparam("state"), updated_at=bindparam("updated_at"))
)


def create(connection: Connection, session: Session, limit: int | None = None) -> Session:
    """Create the session, unless it exists. Raises LimitReached if its user has `limit` of them."""
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
    is_visible = sessions.c.id.not_like(f"{HIDDEN_PREFIX}%")
    query = SESSIONS.where(is_visible).order_by(sessions.c.updated_at.desc(), sessions.c.id)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    if parent_id is not None:
        query = query.where(sessions.c.parent_id == parent_id)
    if with_recall:
        query = query.where(session_recalls.c.id.is_not(None))
    return [session_of(row) for row in connection.execute(query)]


def change(
    connection: Connection, session_id: str, changes: dict[str, Any], now: datetime
) -> Session:
    """Write the changes and announce the session."""
    lane = lock(connection, session_id)
    now = lane.clamp(now)
    connection.execute(
        update(sessions).where(sessions.c.id == session_id).values(**changes, updated_at=now)
    )
    session = replace(lane.session, **changes, updated_at=now)
    announce(connection, session, now)
    return session


def descendants(connection: Connection, session_id: str) -> list[Session]:
    """The sessions started by this one, directly or not, most recently active first."""
    below = select(sessions.c.id).where(sessions.c.parent_id == session_id).cte(recursive=True)
    # UNION, not UNION ALL: a cycle of parents must not loop for ever.
    below = below.union(select(sessions.c.id).where(sessions.c.parent_id == below.c.id))
    query = SESSIONS.where(sessions.c.id.in_(select(below.c.id)), sessions.c.id != session_id)
    rows = connection.execute(query.order_by(sessions.c.updated_at.desc(), sessions.c.id))
    return [session_of(row) for row in rows]


def report(connection: Connection, session_id: str, text: str | None, now: datetime) -> Session:
    """Set the agent's status, which resets its reminders; or clear it, which does not."""
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
    """Stop the session's reminders and send the notice, if any, to its parent.

    True if the notice was queued.
    """
    lane = lock(connection, session_id)
    if lane.session.task is not None:
        change(connection, session_id, {"task": None}, now)
    reminders.cancel(connection, session_id, lane.clamp(now))
    return notice is not None and input_queue.admit_message(connection, notice, now)


def clear(connection: Connection, session_id: str, now: datetime) -> bool:
    """Start a new context for the agent; the transcript keeps everything.

    True if a turn is running: it is asked to end, and the new context begins when it does.
    """
    lane = lock(connection, session_id)
    reminders.cancel(connection, session_id, lane.clamp(now))
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
    """Which of these sessions have ended."""
    query = SESSIONS.where(
        sessions.c.id.in_(session_ids), sessions.c.state == SessionState.STOPPED.value
    )
    return [session_of(row) for row in connection.execute(query)]


def kill_for_removal(
    connection: Connection, session_id: str, now: datetime, *, with_automations: bool
) -> Session:
    """`kill`, but refuse if the session has automations, unless `with_automations`."""
    lock(connection, session_id)
    blocking = automations.blocking(connection, session_id)
    if blocking and not with_automations:
        raise BlockedByAutomations(session_id, blocking)
    return kill(connection, session_id, now)


def remove(connection: Connection, session_id: str, now: datetime) -> None:
    """Delete the session and everything in it. Its last event announces this."""
    lane = lock(connection, session_id)
    if lane.turn_id is not None:
        raise SessionBusy(session_id)
    payload = {"session": session_json(lane.session), "deleted": True}
    last_seq = emit(connection, session_id, None, [("session_update", payload)], now)
    forget_session(connection, session_id, last_seq)
    input_queue.forget_session(connection, session_id)
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
        result = result.opened_by(text, origin)
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
    """Change the session's state; the caller holds its lane."""
    state = after(session.state, transition)
    if state is None:
        raise Conflict(f"{transition} is not possible while the session is {session.state}")
    connection.execute(_MOVE, {"session_id": session.id, "state": state, "updated_at": now})
    return replace(session, state=state, updated_at=now)


def bring_to(connection: Connection, lane: Lane, state: SessionState, now: datetime) -> Session:
    """Move the session to the state and announce it, if a single transition leads there."""
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
