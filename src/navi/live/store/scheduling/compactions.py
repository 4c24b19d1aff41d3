"""Which agents are compacting their history. Until they are done, they get no reminders."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select

from navi.live.model.scheduling.reminder import LONGEST_COMPACTION
from navi.live.store.engine.tables import compactions
from navi.live.store.lanes import lock

_BEGAN_AT = select(compactions.c.began_at).where(
    compactions.c.session_id == bindparam("session_id")
)
_FORGET = delete(compactions).where(
    compactions.c.session_id == bindparam("session_id"), compactions.c.began_at <= bindparam("at")
)


def begin(connection: Connection, session_id: str, at: datetime) -> None:
    lock(connection, session_id)
    forget(connection, session_id, at)
    if held_until(connection, session_id) is None:
        connection.execute(insert(compactions).values(session_id=session_id, began_at=at))


def forget(connection: Connection, session_id: str, at: datetime) -> bool:
    """Forget a compaction that began at `at` or earlier. False if there is none."""
    return bool(connection.execute(_FORGET, {"session_id": session_id, "at": at}).rowcount)


def held_until(connection: Connection, session_id: str) -> datetime | None:
    """The latest time at which reminders resume; None if the agent is not compacting."""
    began_at = connection.execute(_BEGAN_AT, {"session_id": session_id}).scalar()
    return None if began_at is None else began_at + LONGEST_COMPACTION
