"""Sessions: create, read, change, delete."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from navi.domain.errors import Conflict, SessionBusy, SessionNotFound
from navi.domain.session import Session, SessionState, Step, after
from navi.domain.turn import StopReason
from navi.domain.wire import session_json
from navi.store.events import emit, forget_session
from navi.store.lanes import lock, request_stop
from navi.store.tables import lanes, message_queue, sessions


def create(connection: Connection, session: Session) -> Session:
    if (known := _find(connection, session.id)) is not None:
        return known
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
    if (session := _find(connection, session_id)) is None:
        raise SessionNotFound(session_id)
    return session


def listing(
    connection: Connection, *, user_id: str | None, parent_id: str | None = None
) -> list[Session]:
    """Newest activity first; of one user, or of all with None."""
    query = select(sessions).order_by(sessions.c.updated_at.desc(), sessions.c.id)
    if user_id is not None:
        query = query.where(sessions.c.user_id == user_id)
    if parent_id is not None:
        query = query.where(sessions.c.parent_id == parent_id)
    return [_session(row) for row in connection.execute(query)]


def change(
    connection: Connection, session_id: str, changes: dict[str, Any], now: datetime
) -> Session:
    lock(connection, session_id)
    connection.execute(
        update(sessions).where(sessions.c.id == session_id).values(**changes, updated_at=now)
    )
    session = get(connection, session_id)
    announce(connection, session, now)
    return session


def clear(connection: Connection, session_id: str, now: datetime) -> Session:
    """The agent starts afresh; the transcript keeps everything."""
    lane = lock(connection, session_id)
    if lane.turn_id is not None:
        raise SessionBusy(session_id)
    return change(connection, session_id, {"context_from_idx": lane.next_idx}, now)


def kill(connection: Connection, session_id: str, now: datetime) -> Session:
    """End the session for good. What it still had to do is removed, and said to be."""
    lane = lock(connection, session_id)
    session = get(connection, session_id)
    if session.state is SessionState.STOPPED:
        return session
    if lane.turn_id is not None:
        request_stop(connection, session_id, StopReason.KILLED)
    removed = connection.execute(
        delete(message_queue)
        .where(message_queue.c.session_id == session_id, message_queue.c.delivered_at.is_(None))
        .returning(message_queue.c.id)
    ).scalars()
    state = move(connection, session, Step.KILLED, now)
    session = get(connection, session_id)
    assert state is session.state
    emit(
        connection,
        session_id,
        None,
        [
            *(("input_removed", {"input_id": input_id}) for input_id in sorted(removed)),
            ("session_update", {"session": session_json(session)}),
        ],
        now,
    )
    return session


def remove(connection: Connection, session_id: str, now: datetime) -> None:
    """Delete the session and all it had. Its last event says that it is gone."""
    lane = lock(connection, session_id)
    if lane.turn_id is not None:
        raise SessionBusy(session_id)
    session = get(connection, session_id)
    gone = {"session": session_json(session), "deleted": True}
    (farewell,) = emit(connection, session_id, None, [("session_update", gone)], now)
    forget_session(connection, session_id, farewell.seq)
    connection.execute(delete(sessions).where(sessions.c.id == session_id))


def move(connection: Connection, session: Session, step: Step, now: datetime) -> SessionState:
    state = after(session.state, step)
    if state is None:
        raise Conflict(f"a session that is {session.state} can't take the step {step}")
    connection.execute(
        update(sessions).where(sessions.c.id == session.id).values(state=state, updated_at=now)
    )
    return state


def announce(connection: Connection, session: Session, now: datetime) -> None:
    emit(
        connection,
        session.id,
        None,
        [("session_update", {"session": session_json(session)})],
        now,
    )


def _find(connection: Connection, session_id: str) -> Session | None:
    row = connection.execute(select(sessions).where(sessions.c.id == session_id)).one_or_none()
    return None if row is None else _session(row)


def _values(session: Session) -> dict[str, Any]:
    return {column.name: getattr(session, column.name) for column in sessions.columns}


def _session(row: Row[Any]) -> Session:
    values = dict(row._mapping)
    return Session(**{**values, "state": SessionState(values["state"])})
