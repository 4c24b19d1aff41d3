"""Questions whose deadline has passed: their default becomes their answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, bindparam, select

from navi.live.model.question import QuestionState
from navi.live.store import questions
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import Claimed
from navi.live.store.engine.tables import Instant, lanes, sessions
from navi.live.store.engine.tables import questions as table
from navi.live.store.lanes import lock


def _claimable(*columns: Any) -> Any:
    # Skip sessions that are being written to; the scheduler retries in a moment.
    return (
        select(*columns)
        .join(sessions, sessions.c.id == table.c.session_id)
        .join(lanes, lanes.c.session_id == table.c.session_id)
        .where(questions.IS_OPEN, table.c.deadline_at <= bindparam("until", type_=Instant))
        .order_by(table.c.deadline_at)
        .limit(bindparam("limit"))
        .with_for_update(key_share=True, of=[table, sessions, lanes], skip_locked=True)
    )


_CLAIMABLE = _claimable(table)
_FIRST = _claimable(table.c.id, table.c.session_id)


class DueQuestions:
    name = "question"
    lead = timedelta(0)  # An answer in the last second still counts.
    instants = (
        select(table.c.deadline_at)
        .where(questions.IS_OPEN, table.c.deadline_at.is_not(None))
        .order_by(table.c.deadline_at)
    )

    def claim(self, connection: Connection, now: datetime, until: datetime, limit: int) -> Claimed:
        rows = connection.execute(_CLAIMABLE, {"until": until, "limit": limit}).all()
        inputs, user_ids = [], {}
        for row in rows:
            lane = lock(connection, row.session_id)
            user_ids[row.session_id] = lane.session.user_id
            admitted = questions.expire(connection, lane, questions.question_of(row), now)
            inputs += [] if admitted is None else [admitted]
        return Claimed(len(rows), inputs, user_ids)

    def first_due(self, connection: Connection, until: datetime) -> set_aside.Reference | None:
        row = connection.execute(_FIRST, {"until": until, "limit": 1}).one_or_none()
        return None if row is None else set_aside.Reference(row.id, row.session_id)

    def give_up(self, connection: Connection, row_id: str, why: str) -> None:
        changes, read = {"state": QuestionState.WITHDRAWN}, questions.question_of
        set_aside.take_out(connection, table, row_id, changes, read)
