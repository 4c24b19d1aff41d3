"""Keeps the newest finished recalls of each session and deletes the others."""

from __future__ import annotations

from sqlalchemy import Connection, bindparam, delete, select

from navi.live.model.scheduling.recall import RecallStatus
from navi.live.store.engine.tables import session_recalls

_IS_FINISHED = (
    session_recalls.c.session_id == bindparam("session_id"),
    session_recalls.c.status.in_([RecallStatus.FIRED.value, RecallStatus.CANCELLED.value]),
)
_NEWEST_FORGOTTEN = (
    select(session_recalls.c.created_at)
    .where(*_IS_FINISHED)
    .order_by(session_recalls.c.created_at.desc())
    .offset(bindparam("keep"))
    .limit(1)
    .scalar_subquery()
)
_FORGET = delete(session_recalls).where(
    *_IS_FINISHED, session_recalls.c.created_at <= _NEWEST_FORGOTTEN
)


def forget_old(connection: Connection, session_id: str, keep: int) -> None:
    """Keep the newest `keep` of the session's finished recalls."""
    connection.execute(_FORGET, {"session_id": session_id, "keep": keep})
