"""Recalls that are due."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, select, update

from navi.live.model.scheduling.recall import DEFERRED_BY, RecallStatus, recall_input
from navi.live.model.turn import Outcome
from navi.live.store import input_queue
from navi.live.store.damage import set_aside
from navi.live.store.due.contract import Claimed
from navi.live.store.engine.mappers import IS_PENDING, SESSIONS_WITH_RECALL, recall_of
from navi.live.store.engine.tables import Instant, lanes, session_recalls, sessions
from navi.live.store.lanes import lane_of, with_lane
from navi.live.store.scheduling import recalls

_IS_UNCLAIMED = (IS_PENDING, session_recalls.c.input_id.is_(None))
_IS_DUE = (*_IS_UNCLAIMED, session_recalls.c.trigger_at <= bindparam("until", type_=Instant))
# Skip sessions that are being written to; the scheduler retries in a moment.
_CLAIMABLE = (
    with_lane(SESSIONS_WITH_RECALL)
    .where(*_IS_DUE)
    .order_by(session_recalls.c.trigger_at)
    .limit(bindparam("limit"))
    .with_for_update(key_share=True, of=[session_recalls, sessions, lanes], skip_locked=True)
)
_FIRST = (
    select(session_recalls.c.id, session_recalls.c.session_id)
    .join(lanes, lanes.c.session_id == session_recalls.c.session_id)
    .where(*_IS_DUE)
    .order_by(session_recalls.c.trigger_at)
    .limit(1)
    .with_for_update(key_share=True, of=[session_recalls, lanes], skip_locked=True)
)
_CLAIM = (
    update(session_recalls)
    .where(session_recalls.c.id == bindparam("recall_id"))
    .values(
        input_id=bindparam("to_input"),
        trigger_at=bindparam("at", type_=Instant),
        updated_at=bindparam("now", type_=Instant),
    )
)


class DueRecalls:
    name = "recall"
    lead = timedelta(seconds=1)
    instants = (
        select(session_recalls.c.trigger_at)
        .where(*_IS_UNCLAIMED)
        .order_by(session_recalls.c.trigger_at)
    )

    def __init__(self, time_limit_seconds: int | None = None) -> None:
        self._time_limit_seconds = time_limit_seconds

    def claim(self, connection: Connection, now: datetime, until: datetime, limit: int) -> Claimed:
        """Claim due recalls. A claimed recall stays pending and names its input."""
        rows = connection.execute(_CLAIMABLE, {"until": until, "limit": limit}).all()
        locked_lanes = [lane_of(connection, row) for row in rows]
        arrivals, claims = [], []
        for lane in locked_lanes:
            recall = lane.session.pending
            assert recall is not None
            new = recall_input(recall, self._time_limit_seconds)
            arrivals.append((lane, new))
            is_busy = lane.turn_id is not None
            fires_at = recall.trigger_at + DEFERRED_BY if is_busy else recall.trigger_at
            claims.append({"recall_id": recall.id, "to_input": new.id, "at": fires_at, "now": now})
        if not claims:
            return Claimed(0)
        connection.execute(_CLAIM, claims)
        inputs = input_queue.admit_all(connection, arrivals, now)
        for lane in locked_lanes:
            if lane.turn_id is not None:
                recalls.announce(connection, lane.session.id, None, now)
        user_ids = {lane.session.id: lane.session.user_id for lane in locked_lanes}
        return Claimed(len(rows), inputs, user_ids)

    def first_due(self, connection: Connection, until: datetime) -> set_aside.Reference | None:
        row = connection.execute(_FIRST, {"until": until}).one_or_none()
        return None if row is None else set_aside.Reference(row.id, row.session_id)

    def give_up(self, connection: Connection, row_id: str, why: str) -> None:
        changes = {"status": RecallStatus.CANCELLED, "outcome": Outcome.ERROR, "error": why}
        set_aside.take_out(connection, session_recalls, row_id, changes, recall_of)
