"""Sets aside queued inputs that can't be read, so that those behind them can be delivered."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, delete, select

from navi.live.store import input_queue
from navi.live.store.damage import set_aside as aside
from navi.live.store.engine.tables import message_queue


def set_aside(connection: Connection, session_id: str, now: datetime) -> int:
    """Take unreadable inputs out of the session's queue. Returns how many there were."""
    waiting = select(message_queue.c.id).where(
        message_queue.c.session_id == session_id, message_queue.c.delivered_at.is_(None)
    )
    count = 0
    for input_id in connection.execute(waiting).scalars().all():
        try:
            input_queue.get(connection, session_id, input_id)
        except Exception as error:
            count += 1
            reference, why = aside.Reference(input_id, session_id), aside.reason_of(error)
            aside.record(connection, "input", reference, why, now)
            connection.execute(delete(message_queue).where(message_queue.c.id == input_id))
            aside.show(connection, "input", reference, why, now)
    return count
