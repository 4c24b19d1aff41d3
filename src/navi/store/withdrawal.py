"""Taking inputs out of the queue, so that whatever scheduled them learns of it."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from navi.domain.input import Input, Origin
from navi.domain.turn import Ending, Outcome
from navi.store import automation_runs, queue, recalls

BY_PERSON = "taken out of the queue"


def withdraw(connection: Connection, session_id: str, input_id: str, now: datetime) -> None:
    """Remove an input that was not delivered yet."""
    tell_origin(connection, queue.remove(connection, session_id, input_id, now), BY_PERSON, now)


def tell_origin(connection: Connection, removed: Input, why: str, now: datetime) -> None:
    match removed.origin:
        case Origin.RECALL:
            recalls.turn_ended(connection, removed, Ending(Outcome.STOPPED, why), now)
        case Origin.AUTOMATION:
            automation_runs.input_removed(connection, removed, why, now)
